/* SPDX-License-Identifier: MIT */
/*
 * timer: the kernel's timers that send SIGPROF to one thread. They carry the
 * thread's slot, so that the handler need not ask who it is. Signal-safe.
 */
#ifndef WNDL_RT_SAMPLE_TIMER_H
#define WNDL_RT_SAMPLE_TIMER_H

#include "rt/sample/threads.h"

#include <signal.h>

/* What a timer counts. */
enum wndl_rt_timer_kind {
    WNDL_RT_TIMER_WALL = 0, /* CLOCK_MONOTONIC */
    WNDL_RT_TIMER_TICK = 1, /* the thread's CPU time, at the kernel's tick */
};

struct wndl_rt_timer_signal {
    enum wndl_rt_timer_kind kind;
    uint32_t slot;
    uint64_t overruns;
};

/* Whether one of our timers sent this signal, and which. */
bool wndl_rt_timer_sent(
    const siginfo_t *info, struct wndl_rt_timer_signal *from);

/*
 * (Re)starts a timer of any thread, which is made if need be: first after
 * `first` ns, then each `every` ns, 0 for never. False: the kernel has none
 * for us.
 */
bool wndl_rt_timer_start(struct wndl_rt_thread *thread,
    enum wndl_rt_timer_kind kind, uint64_t first, uint64_t every);

void wndl_rt_timer_stop(
    const struct wndl_rt_thread *thread, enum wndl_rt_timer_kind kind);

/* Takes both down. Any thread may. */
void wndl_rt_timers_drop(struct wndl_rt_thread *thread);

#endif
