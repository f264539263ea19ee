/* SPDX-License-Identifier: MIT */
/* roots: the memory outside the heap that may point to blocks (leaks.h). */
#ifndef WNDL_RT_HEAP_LEAKS_ROOTS_H
#define WNDL_RT_HEAP_LEAKS_ROOTS_H

#include "rt/heap/leaks/areas.h"

struct wndl_rt_root_range {
    uintptr_t start, end;
    bool is_stack; /* of a thread */
};

/*
 * Calls `visit` with the ranges of all roots: `early`, which are `count`, and
 * those of the areas and the threads. The heaps are made.
 */
void wndl_rt_roots_each(struct wndl_rt_areas *areas,
    const struct wndl_rt_root *early, size_t count,
    void (*visit)(void *context, const struct wndl_rt_root_range *range),
    void *context);

#endif
