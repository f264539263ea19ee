/* SPDX-License-Identifier: MIT */
/*
 * engine_impl: each engine's work at a signal. All of it runs in the handler,
 * or with all signals blocked.
 */
#ifndef WNDL_RT_SAMPLE_ENGINE_IMPL_H
#define WNDL_RT_SAMPLE_ENGINE_IMPL_H

#include "rt/sample/engine.h"
#include "rt/sample/sample.h"
#include "rt/sample/timer.h"

/* Marks our perf events among the program's own. */
#define WNDL_RT_PERF_MARK UINT64_C(0x776e646c)

/*
 * engine_perf.c: opens one event, inherited by all threads that this one will
 * start. Returns its descriptor, or -errno.
 */
long wndl_rt_perf_open(void);

/* Handle the event's own signal, and that of a tick beside it. */
void wndl_rt_perf_on_event(struct wndl_rt_sample *sample);
void wndl_rt_perf_on_tick(struct wndl_rt_sample *sample);
bool wndl_rt_perf_add_thread(struct wndl_rt_thread *thread);

/*
 * The same for the calling thread, which begins, and the signal for its first
 * sample. `waited`: it found the thread in a call.
 */
bool wndl_rt_perf_begin_thread(struct wndl_rt_thread *thread);
void wndl_rt_perf_on_first(struct wndl_rt_sample *sample, bool waited);

/* engine_tick.c */
void wndl_rt_tick_on_tick(struct wndl_rt_sample *sample, uint64_t overruns);
bool wndl_rt_tick_add_thread(struct wndl_rt_thread *thread);

/* engine_timer.c */
void wndl_rt_timer_on_wall(struct wndl_rt_sample *sample);
void wndl_rt_timer_on_tick(struct wndl_rt_sample *sample);
bool wndl_rt_timer_add_thread(struct wndl_rt_thread *thread);

/*
 * Handles the timer's signal when the calling thread got it outside of the
 * handler.
 */
void wndl_rt_timer_park(uint32_t slot);

#endif
