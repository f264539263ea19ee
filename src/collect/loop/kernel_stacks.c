/* SPDX-License-Identifier: MIT */
#include "collect/loop/kernel_stacks.h"

#include "collect/proc/kallsyms.h"
#include "rec/shm.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static const char names_file[] = "/proc/kallsyms";

/* ---- opening */

static void init(struct wndl_kernel_stacks *k, struct wndl_run *run)
{
    k->run = run;
    wndl_arena_init(&k->arena, wndl_mem_libc());
    wndl_map_init(&k->pids, &k->arena);
    wndl_map_init(&k->known, &k->arena);
    wndl_vec_init(&k->addresses, &k->arena, sizeof(uint64_t));
    wndl_buf_init(&k->samples, wndl_mem_libc());
    wndl_offcpu_tree_init(&k->tree, WNDL_CHUNK_KSTK);
}

void wndl_kernel_stacks_open(struct wndl_kernel_stacks *k, struct wndl_run *run)
{
    const struct wndl_collector_request *r = &run->request;
    const struct wndl_attach_event event = {
        .interval = r->interval,
        .is_of_kernel = true,
    };
    if (r->engine.engine != WNDL_ENGINE_PERF ||
        !wndl_kallsyms_text(names_file, &k->text) ||
        wndl_attach_open(&k->attach, &event) != 0)
        return;
    if (wndl_attach_add_all(&k->attach) != 0) {
        wndl_attach_close(&k->attach);
        return;
    }
    init(k, run);
    k->is_open = true;
    wndl_attach_switch(&k->attach, r->delay == 0);
}

void wndl_kernel_stacks_know(struct wndl_kernel_stacks *k, pid_t pid)
{
    uint64_t *known = k->is_open ? wndl_map_put(&k->pids, (uint64_t)pid) : NULL;
    if (known != NULL)
        *known = 1;
}

/* ---- samples */

static bool is_recorded(
    const struct wndl_kernel_stacks *k, const struct wndl_attach_record *record)
{
    return wndl_map_get(&k->pids, (uint64_t)record->pid) != NULL;
}

static void note_address(struct wndl_kernel_stacks *k, uint64_t address)
{
    uint64_t *known = wndl_map_put(&k->known, address);
    if (known == NULL || *known != 0)
        return;
    uint64_t *slot = wndl_vec_push(&k->addresses);
    if (slot != NULL)
        *slot = address;
    *known = 1;
}

/* The node of a frame; `is_leaf`: it is where the kernel was, no return. */
static uint32_t add_frame(struct wndl_kernel_stacks *k, uint32_t parent,
    uint64_t address, bool is_leaf)
{
    const struct wndl_offcpu_frame frame = {
        .address = address - k->text,
        .image = k->image,
        .flags = is_leaf ? 1u : (uint32_t)WNDL_HOW_CFI << 1,
    };
    note_address(k, is_leaf ? address : address - 1);
    return wndl_offcpu_tree_node(&k->tree, parent, &frame);
}

/* The stack's leaf. Marks say whose addresses follow, and are none. */
static uint32_t add_stack(struct wndl_kernel_stacks *k, struct wndl_bytes chain)
{
    uint32_t node = 0;
    for (size_t i = chain.size / 8; i-- > 0;) {
        const uint64_t address = wndl_load_u64(chain.data + i * 8);
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            continue;
        const bool is_leaf =
            i == 0 || wndl_load_u64(chain.data + (i - 1) * 8) >=
                          (uint64_t)PERF_CONTEXT_MAX;
        node = add_frame(k, node, address, is_leaf);
        if (node == 0)
            return 0;
    }
    return node;
}

static void take_record(void *context, const struct wndl_attach_record *record)
{
    struct wndl_kernel_stacks *k = context;
    if (record->kind != WNDL_ATTACH_SAMPLE || !is_recorded(k, record))
        return;
    const uint32_t node = add_stack(k, record->chain);
    if (node == 0 || record->time < k->last)
        return;
    if (k->count == 0)
        k->first = k->last = record->time;
    const struct wndl_fields_kernel fields = {
        .time = record->time - k->last,
        .tid = record->tid,
        .node = node,
    };
    wndl_put_kernel(&k->samples, &fields);
    k->last = record->time;
    k->count++;
}

static void write_samples(struct wndl_kernel_stacks *k)
{
    enum { FEW = 10 };
    struct wndl_recording *r = &k->run->recording;
    if (k->count == 0 || (k->tree.written == 0 && k->count < FEW))
        return;
    wndl_offcpu_tree_write(&k->tree, r, 0);
    wndl_recording_kernel_samples(r, k->first, k->count,
        (struct wndl_bytes){k->samples.data, k->samples.size});
    wndl_buf_clear(&k->samples);
    k->count = 0;
}

void wndl_kernel_stacks_take(struct wndl_kernel_stacks *k, bool last)
{
    static const struct wndl_bytes no_id = {0};
    if (k == NULL || !k->is_open)
        return;
    if (k->image == 0)
        k->image =
            wndl_recording_image(&k->run->recording, "[kernel]", no_id) + 1;
    wndl_attach_take(&k->attach, last, take_record, k);
    write_samples(k);
}

void wndl_kernel_stacks_pause(struct wndl_kernel_stacks *k, bool paused)
{
    if (k != NULL && k->is_open)
        wndl_attach_switch(&k->attach, !paused);
}

void wndl_kernel_stacks_take_over(struct wndl_kernel_stacks *k)
{
    if (k->is_open && !wndl_attach_remap(&k->attach))
        wndl_kernel_stacks_close(k);
}

/* ---- names */

static int by_address(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static struct wndl_kernel_place *list_places(struct wndl_kernel_stacks *k)
{
    uint64_t *addresses = k->addresses.data;
    struct wndl_kernel_place *places =
        wndl_arena_calloc(&k->arena, k->addresses.len, sizeof *places);
    qsort(addresses, k->addresses.len, sizeof *addresses, by_address);
    for (size_t i = 0; places != NULL && i < k->addresses.len; i++)
        places[i].address = addresses[i];
    return places;
}

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* Addresses before the start of the code, if any, have no names. */
static void write_names(struct wndl_kernel_stacks *k,
    const struct wndl_kernel_place *places, size_t count)
{
    struct wndl_buf list;
    uint32_t named = 0;
    uint64_t last = k->text;
    wndl_buf_init(&list, wndl_mem_libc());
    for (size_t i = 0; i < count; i++) {
        if (places[i].name == NULL || places[i].address < k->text)
            continue;
        const struct wndl_fields_kernel_name name = {
            places[i].address - last, bytes_of(places[i].name)};
        wndl_put_kernel_name(&list, &name);
        last = places[i].address;
        named++;
    }
    if (!list.failed)
        wndl_recording_kernel_names(&k->run->recording, k->image - 1, named,
            (struct wndl_bytes){list.data, list.size});
    wndl_buf_free(&list);
}

void wndl_kernel_stacks_name(struct wndl_kernel_stacks *k)
{
    if (k == NULL || !k->is_open)
        return;
    const size_t count = k->addresses.len;
    struct wndl_kernel_place *places =
        k->tree.written == 0 ? NULL : list_places(k);
    if (places != NULL) {
        (void)wndl_kallsyms_name(names_file, places, count, &k->arena);
        write_names(k, places, count);
    }
}

void wndl_kernel_stacks_finish(struct wndl_kernel_stacks *k)
{
    wndl_kernel_stacks_take(k, true);
    wndl_kernel_stacks_name(k);
    wndl_kernel_stacks_close(k);
}

void wndl_kernel_stacks_close(struct wndl_kernel_stacks *k)
{
    if (!k->is_open)
        return;
    wndl_attach_close(&k->attach);
    wndl_offcpu_tree_free(&k->tree);
    wndl_buf_free(&k->samples);
    wndl_arena_free(&k->arena);
    k->is_open = false;
}
