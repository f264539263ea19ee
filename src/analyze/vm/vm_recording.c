/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_recording.h"

#include "analyze/vm/vm_code.h"
#include "base/hash.h"
#include "base/map.h"
#include "obj/core/object.h"
#include "os/file.h"
#include "wndl/write.h"

#include <stdlib.h>
#include <string.h>
#include <windlass/unwind.h>

enum { PROCESS = 0, INTERRUPTED = 1, BY_CFI = 1 << 1 };

/* Code of a file, as the recording knows it. */
struct placed_code {
    const struct wndl_vm_code *code;
    uint64_t bias; /* from avma to rva */
    uint32_t image;
    bool is_known; /* the file can be read */
};

/* A node of the stack tree; numbers count from 1. */
struct node {
    struct wndl_fields_node fields;
};

struct work {
    const struct wndl_vm *vm;
    struct wndl_recording *r;
    struct wndl_arena arena;
    struct wndl_vec codes;   /* struct placed_code */
    struct wndl_vec nodes;   /* struct node */
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
        *placed = (struct placed_code){.code = code};
        placed->is_known = wndl_vm_code_bias(code, w->arena.mem, &placed->bias);
        placed->image = wndl_recording_image(
            w->r, code->path, read_build_id(w, code->path));
        const struct wndl_recording_mapping mapping = {
            .process = PROCESS,
            .image = placed->image,
            .time = w->r->time_base,
            .start = code->start,
            .end = code->end,
            .bias = -placed->bias,
        };
        wndl_recording_mapping(w->r, &mapping);
    }
    return true;
}

/* The last code mapped at an address stands for all that ran there. */
static const struct placed_code *code_at(const struct work *w, uint64_t ip)
{
    for (size_t i = w->codes.len; i-- > 0;) {
        const struct placed_code *placed = wndl_vec_at(&w->codes, i);
        if (placed->is_known && ip >= placed->code->start &&
            ip < placed->code->end)
            return placed;
    }
    return NULL;
}

/* ---- the stack tree */

/* Callers are given by the last byte of their call; recordings have return
 * addresses. */
static struct wndl_fields_node node_fields(
    const struct work *w, uint64_t ip, uint32_t parent, bool is_leaf)
{
    const struct placed_code *placed = code_at(w, ip);
    const uint64_t address = is_leaf ? ip : ip + 1;
    return (struct wndl_fields_node){
        .parent = parent,
        .flags = is_leaf ? INTERRUPTED : BY_CFI,
        .image = placed == NULL ? 0 : placed->image + 1,
        .address = (int64_t)(placed == NULL ? address : address + placed->bias),
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
            const struct node *node = wndl_vec_at(&w->nodes, *number - 1);
            if (is_same(&node->fields, fields))
                return (uint32_t)*number;
            continue;
        }
        struct node *node = wndl_vec_push(&w->nodes);
        if (node == NULL)
            return 0;
        node->fields = *fields;
        return (uint32_t)(*number = w->nodes.len);
    }
}

/* The outermost frames may be no code: Valgrind's walks go on too far. */
static uint32_t leaf_of(struct work *w, const struct wndl_vm_stack *stack)
{
    uint32_t parent = 0;
    for (uint32_t i = stack->ip_count; i-- > 0;) {
        const struct wndl_fields_node fields =
            node_fields(w, stack->ips[i], parent, i == 0);
        if (parent == 0 && i != 0 && fields.image == 0)
            continue;
        parent = number_of(w, &fields);
        if (parent == 0)
            return 0;
    }
    return parent;
}

static void write_nodes(struct work *w)
{
    struct wndl_node_list list;
    const struct wndl_fields_stak head = {PROCESS, 1};
    wndl_recording_nodes(
        &list, w->r, WNDL_CHUNK_STAK, &head, (uint32_t)w->nodes.len);
    for (size_t i = 0; i < w->nodes.len; i++) {
        const struct node *node = wndl_vec_at(&w->nodes, i);
        wndl_node_list_add(&list, &node->fields);
    }
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
    struct work *w, uint32_t thread, const uint32_t *leaves)
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
            .node = leaves[i],
            .end = WNDL_END_COMPLETE,
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

static bool write_threads(struct work *w, const uint32_t *leaves)
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
        if (!write_samples(w, i, leaves))
            return false;
    }
    return true;
}

static bool write_stacks(struct work *w)
{
    const size_t count = w->vm->stacks.len;
    uint32_t *leaves = wndl_arena_calloc(&w->arena, count + 1, sizeof *leaves);
    if (leaves == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        leaves[i] = leaf_of(w, wndl_vec_at(&w->vm->stacks, i));
        if (leaves[i] == 0)
            return false;
    }
    write_nodes(w);
    return find_threads(w) && write_threads(w, leaves);
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
        .interval = vm->stacks_every, .command = command};
    const struct wndl_recording_done done = {
        .status = WNDL_STATUS_UNKNOWN, .processes = 1};
    wndl_recording_open(&r, fd, &meta);
    struct work w = {.vm = vm, .r = &r};
    wndl_arena_init(&w.arena, vm->arena.mem);
    wndl_vec_init(&w.codes, &w.arena, sizeof(struct placed_code));
    wndl_vec_init(&w.nodes, &w.arena, sizeof(struct node));
    wndl_vec_init(&w.threads, &w.arena, sizeof(uint32_t));
    wndl_map_init(&w.numbers, &w.arena);
    bool whole = write_all(&w);
    enum wndl_status status = wndl_recording_close(&r, &done, err);
    wndl_recording_free(&r);
    wndl_arena_free(&w.arena);
    return whole ? status
                 : wndl_fail(err, WNDL_NOMEM, "no memory for the recording");
}
