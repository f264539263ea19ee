/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_recording.h"

#include "analyze/vm/vm_code.h"
#include "analyze/vm/vm_walk.h"
#include "base/hash.h"
#include "base/map.h"
#include "obj/core/object.h"
#include "os/file.h"
#include "wndl/write.h"

#include <stdlib.h>
#include <string.h>

enum { PROCESS = 0, INTERRUPTED = 1, BY_CFI = 1 << 1 };

/* Code of a file, as the recording knows it. */
struct placed_code {
    uint64_t to_rva; /* added to an avma */
    uint32_t image;
    bool is_known; /* the file can be read */
};

struct work {
    const struct wndl_vm *vm;
    struct wndl_recording *r;
    struct wndl_arena arena;
    struct wndl_vm_walks walks;
    struct wndl_vec codes;   /* struct placed_code, by index of the code */
    struct wndl_vec nodes;   /* struct wndl_fields_node; numbers are from 1 */
    struct wndl_map numbers; /* hash of a node -> number of one with it */
    struct wndl_vec threads; /* uint32_t: tid by index of the thread */
};

/* ---- images */

static struct wndl_bytes read_build_id(struct work *w, const char *path)
{
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_bytes id = {0};
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return id;
    if (wndl_object_open(file.bytes, path, w->arena.mem, &object, NULL) ==
        WNDL_OK) {
        id = wndl_object_build_id(object);
        const char *copy = wndl_arena_copy(&w->arena, id.data, id.size);
        id = (struct wndl_bytes){
            (const uint8_t *)copy, copy == NULL ? 0 : id.size};
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return id;
}

static bool place_code(struct work *w)
{
    for (size_t i = 0; i < w->vm->code.len; i++) {
        const struct wndl_vm_code *code = wndl_vec_at(&w->vm->code, i);
        struct placed_code *placed = wndl_vec_push(&w->codes);
        if (placed == NULL)
            return false;
        struct wndl_vm_code_place place = {0};
        placed->is_known = wndl_vm_code_place(code, w->arena.mem, &place);
        placed->to_rva = place.to_rva;
        placed->image = wndl_recording_image(
            w->r, code->path, read_build_id(w, code->path));
        const struct wndl_recording_mapping mapping = {
            .process = PROCESS,
            .image = placed->image,
            .time = w->r->time_base,
            .start = code->start,
            .end = code->end,
            .bias = -place.to_svma,
        };
        wndl_recording_mapping(w->r, &mapping);
    }
    return true;
}

/* The last code mapped at an address stands for all that ran there. */
static const struct placed_code *code_at(const struct work *w, uint64_t ip)
{
    const struct wndl_vm_piece *piece =
        wndl_vm_code_map_find(&w->walks.map, ip);
    if (piece == NULL)
        return NULL;
    const struct placed_code *placed = wndl_vec_at(&w->codes, piece->code);
    return placed->is_known ? placed : NULL;
}

/* ---- the stack tree */

/* Callers are given by the last byte of their call; recordings have return
 * addresses. */
static struct wndl_fields_node node_fields(
    const struct work *w, uint64_t ip, uint32_t parent, bool is_leaf)
{
    const struct placed_code *placed = code_at(w, ip);
    const uint64_t to_rva = placed == NULL ? 0 : placed->to_rva;
    return (struct wndl_fields_node){
        .parent = parent,
        .flags = is_leaf ? INTERRUPTED : BY_CFI,
        .image = placed == NULL ? 0 : placed->image + 1,
        .address = (int64_t)((is_leaf ? ip : ip + 1) + to_rva),
    };
}

static bool is_same(
    const struct wndl_fields_node *a, const struct wndl_fields_node *b)
{
    return a->parent == b->parent && a->flags == b->flags &&
           a->image == b->image && a->address == b->address;
}

/* The number of the node, added if new; 0: memory is out. */
static uint32_t number_of(struct work *w, const struct wndl_fields_node *fields)
{
    uint64_t hash = wndl_hash_u64(fields->parent * WNDL_GOLDEN + fields->flags +
                                  (fields->image << 8)) ^
                    wndl_hash_u64((uint64_t)fields->address);
    for (;; hash++) {
        uint64_t *number = wndl_map_put(&w->numbers, hash);
        if (number == NULL)
            return 0;
        if (*number != 0) {
            if (is_same(wndl_vec_at(&w->nodes, *number - 1), fields))
                return (uint32_t)*number;
            continue;
        }
        struct wndl_fields_node *node = wndl_vec_push(&w->nodes);
        if (node == NULL)
            return 0;
        *node = *fields;
        return (uint32_t)(*number = w->nodes.len);
    }
}

/* The stack's leaf in the tree, whose number is 0 when memory is out. */
struct walked {
    uint32_t leaf;
    enum wndl_walk_end end;
};

static struct walked add_stack(
    struct work *w, const struct wndl_vm_stack *stack)
{
    struct walked walked = {0};
    for (uint32_t i = wndl_vm_walk_count(
             &w->walks, stack->ips, stack->ip_count, stack->cut, &walked.end);
         i-- > 0;) {
        const struct wndl_fields_node fields =
            node_fields(w, stack->ips[i], walked.leaf, i == 0);
        walked.leaf = number_of(w, &fields);
        if (walked.leaf == 0)
            break;
    }
    return walked;
}

static void write_nodes(struct work *w)
{
    struct wndl_node_list list;
    const struct wndl_fields_stak head = {PROCESS, 1};
    wndl_recording_nodes(
        &list, w->r, WNDL_CHUNK_STAK, &head, (uint32_t)w->nodes.len);
    for (size_t i = 0; i < w->nodes.len; i++)
        wndl_node_list_add(&list, wndl_vec_at(&w->nodes, i));
    wndl_node_list_finish(&list);
}

/* ---- threads and samples */

static bool find_threads(struct work *w)
{
    for (size_t i = 0; i < w->vm->stacks.len; i++) {
        const struct wndl_vm_stack *stack = wndl_vec_at(&w->vm->stacks, i);
        bool is_known = false;
        for (size_t j = 0; j < w->threads.len; j++)
            is_known = is_known || *(uint32_t *)wndl_vec_at(&w->threads, j) ==
                                       stack->thread;
        uint32_t *tid = is_known ? NULL : wndl_vec_push(&w->threads);
        if (!is_known && tid == NULL)
            return false;
        if (!is_known)
            *tid = stack->thread;
    }
    return true;
}

static bool write_samples(
    struct work *w, uint32_t thread, const struct walked *walked)
{
    const uint32_t tid = *(uint32_t *)wndl_vec_at(&w->threads, thread);
    struct wndl_buf bytes;
    struct wndl_recording_series series = {
        .thread = thread, .time = w->r->time_base};
    uint64_t last = 0;
    wndl_buf_init(&bytes, w->arena.mem);
    for (size_t i = 0; i < w->vm->stacks.len; i++) {
        const struct wndl_vm_stack *stack = wndl_vec_at(&w->vm->stacks, i);
        if (stack->thread != tid)
            continue;
        const struct wndl_fields_sample sample = {
            .time = stack->at - last,
            .cpu = stack->weight * w->vm->stacks_every,
            .node = walked[i].leaf,
            .end = walked[i].end,
        };
        last = stack->at;
        wndl_put_sample(&bytes, &sample);
        series.count++;
    }
    series.bytes = (struct wndl_bytes){bytes.data, bytes.size};
    bool whole = !bytes.failed;
    if (whole)
        wndl_recording_series(w->r, WNDL_CHUNK_SAMP, &series);
    wndl_buf_free(&bytes);
    return whole;
}

static bool write_threads(struct work *w, const struct walked *walked)
{
    for (uint32_t i = 0; i < w->threads.len; i++) {
        const struct wndl_recording_thread thread = {
            .process = PROCESS,
            .index = i,
            .tid = *(uint32_t *)wndl_vec_at(&w->threads, i),
            .time = w->r->time_base,
            .name = i == 0 ? "main" : "thread",
        };
        wndl_recording_thread(w->r, &thread);
        if (!write_samples(w, i, walked))
            return false;
    }
    return true;
}

static bool write_stacks(struct work *w)
{
    const size_t count = w->vm->stacks.len;
    struct walked *walked =
        wndl_arena_calloc(&w->arena, count + 1, sizeof *walked);
    if (walked == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        walked[i] = add_stack(w, wndl_vec_at(&w->vm->stacks, i));
        if (walked[i].leaf == 0)
            return false;
    }
    write_nodes(w);
    return !w->walks.failed && find_threads(w) && write_threads(w, walked);
}

/* ---- the recording */

static bool write_all(struct work *w)
{
    const struct wndl_vm *vm = w->vm;
    const struct wndl_vm_code *first =
        vm->code.len == 0 ? NULL : wndl_vec_at(&vm->code, 0);
    const struct wndl_recording_process process = {
        .pid = (uint32_t)vm->pid,
        .time = w->r->time_base,
        .executable = first == NULL ? "" : first->path,
        .command = {(const uint8_t *)vm->command, strlen(vm->command)},
    };
    const uint64_t lost[WNDL_LOSS_REASONS] = {0};
    wndl_recording_process(w->r, &process);
    if (!place_code(w) || !write_stacks(w))
        return false;
    wndl_recording_end(w->r, PROCESS, WNDL_ENDED_EXIT, lost);
    return true;
}

enum wndl_status wndl_vm_record(
    const struct wndl_vm *vm, int fd, struct wndl_error *err)
{
    struct wndl_recording r;
    char *command[] = {(char *)vm->command, NULL};
    const struct wndl_recording_meta meta = {
        .interval = vm->stacks_every,
        .engine = WNDL_ENGINE_COUNTED,
        .max_frames = WNDL_VM_FRAMES,
        .command = command,
    };
    const struct wndl_recording_done done = {
        .status = WNDL_STATUS_UNKNOWN, .processes = 1};
    wndl_recording_open(&r, fd, &meta);
    struct work w = {.vm = vm, .r = &r};
    wndl_arena_init(&w.arena, vm->arena.mem);
    wndl_vec_init(&w.codes, &w.arena, sizeof(struct placed_code));
    wndl_vec_init(&w.nodes, &w.arena, sizeof(struct wndl_fields_node));
    wndl_vec_init(&w.threads, &w.arena, sizeof(uint32_t));
    wndl_map_init(&w.numbers, &w.arena);
    bool whole =
        wndl_vm_walks_init(&w.walks, vm, vm->arena.mem) && write_all(&w);
    enum wndl_status status = wndl_recording_close(&r, &done, err);
    wndl_recording_free(&r);
    wndl_vm_walks_free(&w.walks);
    wndl_arena_free(&w.arena);
    return whole ? status
                 : wndl_fail(err, WNDL_NOMEM, "no memory for the recording");
}
