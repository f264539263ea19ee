/* SPDX-License-Identifier: MIT */
/*
 * timer: kernel timers that send SIGPROF to one thread. The signal carries the
 * thread's slot, so that the handler need not ask for the thread's id.
 * Signal-safe.
 */
#ifndef WNDL_RT_SAMPLE_TIMER_H
#define WNDL_RT_SAMPLE_TIMER_H

#include "rt/sample/threads.h"

#include <signal.h>

/* The clock of a timer. */
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
 * Starts or restarts a timer of any thread, and makes it if needed. It fires
 * after `first` ns, then every `every` ns; 0 for once only. False: the kernel
 * has no timer left for us.
 */
bool wndl_rt_timer_start(struct wndl_rt_thread *thread,
    enum wndl_rt_timer_kind kind, uint64_t first, uint64_t every);

void wndl_rt_timer_stop(
    const struct wndl_rt_thread *thread, enum wndl_rt_timer_kind kind);

/* Deletes the one on CLOCK_MONOTONIC. */
void wndl_rt_timer_drop_wall(struct wndl_rt_thread *thread);

/*
 * Deletes those of all threads, before a sandbox forbids it.
 */
void wndl_rt_timers_drop_all(void);

/* Deletes both timers. Any thread. */
void wndl_rt_timers_drop(struct wndl_rt_thread *thread);

#endif
