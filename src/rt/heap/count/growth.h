/* SPDX-License-Identifier: MIT */
/*
 * growth: counts buffers that grow, and wrong frees, in the shared memory of
 * rec/heap.h. Lock-free; any thread.
 */
#ifndef WNDL_RT_HEAP_COUNT_GROWTH_H
#define WNDL_RT_HEAP_COUNT_GROWTH_H

#include "rec/heap.h"

#include <stdbool.h>

/* A block that replaces a smaller one. */
struct wndl_rt_growth {
    uint32_t node;     /* of the call; not 0 */
    bool by_copy;      /* else by realloc */
    bool is_first;     /* the smaller block was in no chain yet */
    uint64_t from, to; /* bytes requested; from < to */
};

void wndl_rt_heap_grown(
    struct wndl_heap *heap, const struct wndl_rt_growth *growth);

/* Counts a wrong free; `node` is not 0. */
void wndl_rt_heap_wrong(struct wndl_heap *heap, uint32_t node,
    enum wndl_heap_wrong_kind kind, uint64_t address);

#endif
