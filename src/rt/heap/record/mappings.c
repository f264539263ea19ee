/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/mappings.h"

#include "rt/heap/count/enter.h"
#include "rt/heap/count/lock.h"
#include "rt/heap/count/state.h"

#include <stdatomic.h>

static struct wndl_rt_lock lock;

struct wndl_heap_mapped *wndl_rt_heap_mapped(void)
{
    struct wndl_heap *shared = wndl_rt_heap->shared;
    if (shared == NULL)
        return NULL;
    return (void *)((uint8_t *)shared + wndl_heap_layout(shared->sites).mapped);
}

/* Without room it is not known who mapped it. */
static void add(
    struct wndl_heap_mapped *mapped, const struct wndl_memory_mapping *mapping)
{
    if (mapping->start < mapping->end && mapped->count < WNDL_HEAP_MAPPINGS)
        mapped->mappings[mapped->count++] = *mapping;
}

static void cut(struct wndl_heap_mapped *mapped, uint64_t start, uint64_t end)
{
    for (uint32_t i = mapped->count; i-- > 0;) {
        struct wndl_memory_mapping *m = &mapped->mappings[i];
        if (m->end <= start || m->start >= end)
            continue;
        struct wndl_memory_mapping after = *m;
        after.start = end;
        m->end = m->start < start ? start : m->start;
        if (m->start == m->end)
            *m = mapped->mappings[--mapped->count];
        add(mapped, &after);
    }
}

void wndl_rt_mappings_set(struct wndl_heap_mapped *mapped, const void *address,
    size_t size, uint32_t node)
{
    const uint64_t start = (uintptr_t)address;
    const uint64_t pages = ((uint64_t)size + WNDL_RT_PAGE - 1) / WNDL_RT_PAGE;
    const struct wndl_memory_mapping whole = {
        start, start + pages * WNDL_RT_PAGE, node, 0};
    if (!wndl_rt_lock(&lock))
        return;
    atomic_fetch_add(&mapped->changes, 1);
    cut(mapped, whole.start, whole.end);
    if (node != 0)
        add(mapped, &whole);
    atomic_fetch_add(&mapped->changes, 1);
    wndl_rt_unlock(&lock);
}

void wndl_rt_mappings_end(const void *address, size_t size)
{
    struct wndl_heap_mapped *mapped = wndl_rt_heap_mapped();
    if (mapped == NULL || mapped->count == 0 || wndl_rt_heap_enter() == NULL)
        return;
    wndl_rt_mappings_set(mapped, address, size, 0);
    wndl_rt_heap_leave();
}

void wndl_rt_mappings_after_fork(void)
{
    lock = (struct wndl_rt_lock){0};
}
