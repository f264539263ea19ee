/* SPDX-License-Identifier: MIT */
/*
 * mappings: which calls of the program mapped its address space. A call takes
 * the place of earlier ones in its range.
 */
#ifndef WNDL_RT_HEAP_RECORD_MAPPINGS_H
#define WNDL_RT_HEAP_RECORD_MAPPINGS_H

#include "rec/heap.h"

#include <stddef.h>
#include <stdint.h>

/* The table, or NULL while nothing is recorded. */
struct wndl_heap_mapped *wndl_rt_heap_mapped(void);

/*
 * The range, in whole pages, is by the stack `node` from now on; 0: it is not
 * mapped, or nobody knows by whom. The thread must have entered (enter.h).
 */
void wndl_rt_mappings_set(struct wndl_heap_mapped *mapped, const void *address,
    size_t size, uint32_t node);

/* The range is about to be unmapped, or has been moved away. */
void wndl_rt_mappings_end(const void *address, size_t size);

/* In the child of a fork: another thread may have had the lock. */
void wndl_rt_mappings_after_fork(void);

#endif
