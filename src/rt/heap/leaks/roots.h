/* SPDX-License-Identifier: MIT */
/* roots: the memory outside the heap that may point to blocks (leaks.h). */
#ifndef WNDL_RT_HEAP_LEAKS_ROOTS_H
#define WNDL_RT_HEAP_LEAKS_ROOTS_H

#include "rt/heap/leaks/areas.h"

enum wndl_rt_root_kind {
    WNDL_RT_ROOT_MEMORY,    /* a module's data, or other memory */
    WNDL_RT_ROOT_STACK,     /* a thread's; `tid` is known if it has told its
                             * stack pointer */
    WNDL_RT_ROOT_REGISTERS, /* of a thread */
};

struct wndl_rt_root_range {
    uintptr_t start, end;
    enum wndl_rt_root_kind kind;
    int tid; /* 0: not known */
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
