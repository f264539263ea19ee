/* SPDX-License-Identifier: MIT */
/* search: the searches of the heap: for leaks, and who points to whom. */
#ifndef WNDL_RT_HEAP_RECORD_SEARCH_H
#define WNDL_RT_HEAP_RECORD_SEARCH_H

#include "rt/heap/count/state.h"

#include <windlass/unwind.h>

/* Both: the thread has entered (enter.h), and is not in a signal handler. */

/* Makes the searches that are wanted at the end of the process. */
void wndl_rt_heap_search_at_end(void);

/*
 * Makes the scan that the collector has asked for. The program waits until a
 * copy of it is made, which is scanned; where none can be made, until the scan
 * is. A copy that still is scanned answers instead. `regs`: the calling
 * thread's registers, which are roots.
 */
void wndl_rt_heap_scan_as_asked(const struct wndl_regs *regs);

/* In a forked child: no scan is being made. */
void wndl_rt_heap_search_after_fork(void);

/* Whether the collector asks for a scan. Where none is wanted, it is a load. */
static inline bool wndl_rt_heap_scan_is_due(void)
{
    if (__builtin_expect(wndl_rt_heap->scan == NULL, 1))
        return false;
    struct wndl_heap *shared = wndl_rt_heap->shared;
    return atomic_load_explicit(&shared->scan_asked, memory_order_relaxed) !=
           atomic_load_explicit(&shared->scan_begun, memory_order_relaxed);
}

#endif
