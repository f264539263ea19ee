/* SPDX-License-Identifier: MIT */
/*
 * enter: marks a thread as busy while it records a call of an allocation
 * function. Calls that the function makes in turn, and allocations by signal
 * handlers meanwhile, are not recorded.
 */
#ifndef WNDL_RT_HEAP_COUNT_ENTER_H
#define WNDL_RT_HEAP_COUNT_ENTER_H

#include "rt/heap/count/state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wndl_rt_heap_thread;

/* The calling thread's state. `self` is NULL before its first call. */
struct wndl_rt_heap_here {
    struct wndl_rt_heap_thread *self;
    volatile bool busy;
};

extern WNDL_RT_HIDDEN __thread struct wndl_rt_heap_here wndl_rt_heap_here;

/* Whether the calling thread is busy. */
static inline bool wndl_rt_heap_is_busy(void)
{
    return wndl_rt_heap_here.busy;
}

struct wndl_rt_heap_thread *wndl_rt_heap_enter_slowly(void);

/*
 * Makes the calling thread busy until leave(), and returns its memory. NULL:
 * the call must not be recorded, but given to untracked.h.
 */
static inline struct wndl_rt_heap_thread *wndl_rt_heap_enter(void)
{
    struct wndl_rt_heap_here *here = &wndl_rt_heap_here;
    struct wndl_rt_heap_thread *self = here->self;
    if (!WNDL_RT_LIKELY(
            self != NULL && !here->busy && wndl_rt_heap->shared != NULL))
        return wndl_rt_heap_enter_slowly();
    here->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    return self;
}

static inline void wndl_rt_heap_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    wndl_rt_heap_here.busy = false;
}

#endif
