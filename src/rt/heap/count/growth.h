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

/* A wrong free, or a measurement of what is no block. */
struct wndl_rt_wrong {
    uint32_t node; /* of the call; not 0 */
    enum wndl_heap_wrong_kind kind;
    uint64_t address;
    uint32_t taken_at; /* as in struct wndl_heap_wrong, as are: */
    enum wndl_heap_whose taken_by, freed_by;
};

/* Counts it with those of the same stacks. */
void wndl_rt_heap_wrong(
    struct wndl_heap *heap, const struct wndl_rt_wrong *wrong);

#endif
