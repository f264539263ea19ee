/* SPDX-License-Identifier: MIT */
/*
 * scan: writes down which blocks point to which, and which roots point to
 * blocks, where the collector reads it. Unlike the search it reads each block
 * once, in the order of their addresses.
 */
#ifndef WNDL_RT_HEAP_LEAKS_SCAN_H
#define WNDL_RT_HEAP_LEAKS_SCAN_H

#include "rt/heap/leaks/areas.h"

/*
 * Writes the scan to areas->wanted->scan. The heaps are made and the states of
 * pages are known. `copied`: room for WNDL_RT_COPIED bytes (follow.h). Like the
 * search, not for signal handlers.
 */
void wndl_rt_heap_scan(struct wndl_rt_areas *areas,
    const struct wndl_rt_root *early, size_t count, uintptr_t *copied);

/* The scan of a heap without blocks. */
void wndl_rt_heap_scan_nothing(const struct wndl_rt_areas *areas);

#endif
