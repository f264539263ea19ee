/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/lock.h"

#include "os/raw.h"
#include "rt/arch/arch.h"

#include <stddef.h>

enum { SPINS = 100, YIELDS = 100, SLEEP_NS = 50 * 1000 };

bool wndl_rt_wait(bool (*is_over)(void *context), void *context, int sleeps)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_over(context))
            return true;
        wndl_arch_pause();
    }
    for (int i = 0; i < YIELDS; i++) {
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
        if (is_over(context))
            return true;
    }
    for (int i = 0; i < sleeps; i++) {
        wndl_raw_sleep(SLEEP_NS);
        if (is_over(context))
            return true;
    }
    return false;
}

static bool try_lock(void *context)
{
    struct wndl_rt_lock *l = context;
    return atomic_load_explicit(&l->held, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&l->held, 1, memory_order_acquire) == 0;
}

/* The holder may have no CPU now, or be forking, or have died. */
bool wndl_rt_lock_slowly(struct wndl_rt_lock *l)
{
    if (wndl_rt_is_lost(l))
        return false;
    if (wndl_rt_wait(try_lock, l, WNDL_RT_WAIT_LONG))
        return true;
    atomic_store(&l->lost, 1);
    return false;
}
