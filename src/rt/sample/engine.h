/* SPDX-License-Identifier: MIT */
/*
 * engine: what each way of interrupting the program does with a signal. All
 * of it runs in the handler, or with all signals blocked.
 */
#ifndef WNDL_RT_SAMPLE_ENGINE_H
#define WNDL_RT_SAMPLE_ENGINE_H

#include "rt/sample/sample.h"
#include "rt/sample/timer.h"

/* Tells our perf events from the program's own. */
#define WNDL_RT_PERF_MARK UINT64_C(0x776e646c)

/*
 * engine_perf.c: one event, inherited by all threads that this one will
 * start. Returns its descriptor, or -errno.
 */
long wndl_rt_perf_open(bool kernel);

/* The event's own signal, and that of a tick beside it. */
void wndl_rt_perf_on_event(struct wndl_rt_look *look);
void wndl_rt_perf_on_tick(struct wndl_rt_look *look);
bool wndl_rt_perf_add_thread(struct wndl_rt_thread *thread);

/*
 * engine.c: whether a signal that did not come to the handler, but to the
 * calling thread otherwise, is the engine's. Then its work is done, too.
 */
bool wndl_rt_engine_sent(const siginfo_t *info);

/*
 * engine.c: a timer's signal ended the call that the context is behind, some
 * `waited` ns after its start: it goes on, or is counted as interrupted.
 */
void wndl_rt_engine_go_on(const struct wndl_rt_look *look, uint64_t waited);

/* engine_tick.c */
void wndl_rt_tick_on_tick(struct wndl_rt_look *look, uint64_t overruns);
bool wndl_rt_tick_add_thread(struct wndl_rt_thread *thread);

/* engine_timer.c */
void wndl_rt_timer_on_wall(struct wndl_rt_look *look);
void wndl_rt_timer_on_tick(struct wndl_rt_look *look);
bool wndl_rt_timer_add_thread(struct wndl_rt_thread *thread);

/* For the calling thread, outside of the handler: it got the timer's signal
 * otherwise. */
void wndl_rt_timer_park(uint32_t slot);

#endif
