/* SPDX-License-Identifier: MIT */
/*
 * heap_pairs: the distinct (stack, sizes) of allocations, in the shared
 * memory of rec/heap.h. Lock-free; any thread, any signal handler.
 */
#ifndef WNDL_RT_HEAP_PAIRS_H
#define WNDL_RT_HEAP_PAIRS_H

#include "rec/heap.h"

struct wndl_rt_pairs {
    struct wndl_heap_pair *pairs;
    _Atomic uint32_t *index; /* 2 * max */
    _Atomic uint32_t *count;
    uint32_t max;
};

/*
 * The number of the pair, which is added if it is new, plus one. 0 when there
 * is no room. `usable` is as in the memory: bytes + 1.
 */
uint32_t wndl_rt_pairs_find(
    const struct wndl_rt_pairs *table, const struct wndl_heap_pair *wanted);

#endif
