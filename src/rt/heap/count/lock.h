/* SPDX-License-Identifier: MIT */
/*
 * lock: locks of the block table. A lock that is held for too long, as by a
 * thread that has died, is given up: nobody waits forever.
 *
 * All functions: any thread; no signal handler that may interrupt the holder.
 */
#ifndef WNDL_RT_HEAP_COUNT_LOCK_H
#define WNDL_RT_HEAP_COUNT_LOCK_H

#include "rt/heap/count/state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wndl_rt_lock {
    _Atomic uint32_t held;
    _Atomic uint32_t lost; /* true for good once it is */
    bool by_fork;          /* held by the thread that forks */
};

enum { WNDL_RT_WAIT_LONG = 60 * 1000, WNDL_RT_WAIT_SHORT = 30 * 1000 };

/*
 * Waits until `is_over`, with ever longer breaks. At most `sleeps` breaks of 50
 * us are made. They are counted, not measured, because the process may be
 * stopped meanwhile. False: it is not over.
 */
bool wndl_rt_wait(bool (*is_over)(void *context), void *context, int sleeps);

bool wndl_rt_lock_slowly(struct wndl_rt_lock *l);

/* False: the lock was given up. */
static inline bool wndl_rt_lock(struct wndl_rt_lock *l)
{
    return WNDL_RT_LIKELY(atomic_exchange_explicit(
                              &l->held, 1, memory_order_acquire) == 0) ||
           wndl_rt_lock_slowly(l);
}

static inline void wndl_rt_unlock(struct wndl_rt_lock *l)
{
    atomic_store_explicit(&l->held, 0, memory_order_release);
}

static inline bool wndl_rt_is_lost(const struct wndl_rt_lock *l)
{
    return atomic_load_explicit(&l->lost, memory_order_relaxed) != 0;
}

/* Called around fork(), in the thread that forks, and in its child. */
static inline void wndl_rt_lock_by_fork(struct wndl_rt_lock *l)
{
    l->by_fork = wndl_rt_lock(l);
}

/* A lock that was given up belongs to somebody else. */
static inline void wndl_rt_unlock_by_fork(struct wndl_rt_lock *l)
{
    if (!l->by_fork)
        return;
    l->by_fork = false;
    wndl_rt_unlock(l);
}

#endif
