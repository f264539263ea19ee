/* SPDX-License-Identifier: MIT */
/*
 * TICK: a timer on each thread's CPU clock. The kernel checks it at its own
 * timer tick, so it fires no more often than that.
 */
#include "rt/core/rt.h"
#include "rt/sample/discover.h"
#include "rt/sample/engine_impl.h"

void wndl_rt_tick_on_tick(struct wndl_rt_sample *sample, uint64_t overruns)
{
    if (overruns != 0)
        wndl_rt_lose(WNDL_LOSS_OVERRUN, overruns);
    (void)wndl_rt_sample_take(sample, sample->cpu - sample->thread->last_cpu);
    wndl_rt_discover(sample, wndl_rt_tick_add_thread);
}

bool wndl_rt_tick_add_thread(struct wndl_rt_thread *t)
{
    return wndl_rt_timer_start(
        t, WNDL_RT_TIMER_TICK, wndl_rt.interval, wndl_rt.interval);
}
