/* SPDX-License-Identifier: MIT */
/*
 * lock: locks of the block table. One that is held for too long, as by a
 * thread that is no more, is given up: nobody waits for ever.
 *
 * All functions: any thread; no signal handler that may interrupt who holds
 * the lock.
 */
#ifndef WNDL_RT_HEAP_COUNT_LOCK_H
#define WNDL_RT_HEAP_COUNT_LOCK_H

#include "rt/heap/count/state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wndl_rt_lock {
    _Atomic uint32_t held;
    _Atomic uint32_t lost; /* never changes back */
    bool by_fork;          /* held by the thread that forks */
};

enum { WNDL_RT_WAIT_LONG = 60 * 1000, WNDL_RT_WAIT_SHORT = 30 * 1000 };

/*
 * Until `is_over`, with ever longer breaks: at most `sleeps` of 50 us, counted,
 * for the process may be stopped meanwhile. False: it is not.
 */
bool wndl_rt_wait(bool (*is_over)(void *context), void *context, int sleeps);

bool wndl_rt_lock_slowly(struct wndl_rt_lock *l);

/* False: it is lost. */
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

/* Around fork(), in the thread that forks, and in its child. */
static inline void wndl_rt_lock_by_fork(struct wndl_rt_lock *l)
{
    l->by_fork = wndl_rt_lock(l);
}

/* A lost one was held by somebody else. */
static inline void wndl_rt_unlock_by_fork(struct wndl_rt_lock *l)
{
    if (!l->by_fork)
        return;
    l->by_fork = false;
    wndl_rt_unlock(l);
}

#endif
