/* SPDX-License-Identifier: MIT */
#include "snapshot/core_memory.h"

#include "base/search.h"

#include <string.h>

void wndl_core_memory_init(struct wndl_core_memory *memory,
    struct wndl_arena *arena, const struct wndl_core_file *core)
{
    *memory = (struct wndl_core_memory){.core = core};
    wndl_vec_init(&memory->backings, arena, sizeof(struct wndl_core_backing));
}

/* The bytes from `address` to the end of its mapping, or of its file. */
static struct wndl_bytes backing_at(
    const struct wndl_core_memory *memory, uint64_t address)
{
    const struct wndl_core_backing *all = memory->backings.data;
    if (memory->backings.len == 0)
        return (struct wndl_bytes){0};
    const size_t count = wndl_search_up_to(
        &all->start, sizeof *all, memory->backings.len, address);
    const struct wndl_core_backing *b = &all[count == 0 ? 0 : count - 1];
    if (count == 0 || address >= b->end || address - b->start >= b->bytes.size)
        return (struct wndl_bytes){0};
    const uint64_t within = address - b->start;
    const uint64_t mapped = b->end - address, there = b->bytes.size - within;
    return wndl_bytes_slice(b->bytes, within, mapped < there ? mapped : there);
}

/*
 * The kernel leaves out mappings of files that nobody has written to. Memory
 * that may have been written to is lost if the core was cut short.
 */
static struct wndl_bytes known_at(
    const struct wndl_core_memory *memory, uint64_t address)
{
    const struct wndl_bytes dumped = wndl_core_bytes_at(memory->core, address);
    const struct wndl_core_segment *segment =
        wndl_core_segment_at(memory->core, address);
    if (dumped.size != 0 ||
        (segment != NULL && segment->is_writable && segment->size != 0))
        return dumped;
    return backing_at(memory, address);
}

bool wndl_core_memory_read(
    void *context, uint64_t address, void *to, size_t size)
{
    struct wndl_core_memory *memory = context;
    for (size_t done = 0; done < size;) {
        const struct wndl_bytes part = known_at(memory, address + done);
        const size_t left = size - done;
        const size_t take = part.size < left ? part.size : left;
        if (take == 0) {
            memory->missing = address + done;
            return false;
        }
        memcpy((uint8_t *)to + done, part.data, take);
        done += take;
    }
    return true;
}
