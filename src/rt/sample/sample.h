/* SPDX-License-Identifier: MIT */
/*
 * sample: sampling the calling thread from its signal handler, all signals
 * blocked; and the events of a thread beside its samples.
 */
#ifndef WNDL_RT_SAMPLE_SAMPLE_H
#define WNDL_RT_SAMPLE_SAMPLE_H

#include "rt/sample/threads.h"

#include <ucontext.h>

struct wndl_rt_sample {
    struct wndl_rt_thread *thread;
    ucontext_t *context;
    uint64_t now; /* CLOCK_MONOTONIC ns */
    uint64_t cpu; /* of the thread, ns */
};

enum wndl_rt_verdict {
    WNDL_RT_STOPPED, /* recording has stopped: no more samples */
    WNDL_RT_SKIP,    /* paused, left out, or no room */
    WNDL_RT_TAKE,
};

/* Reads the clocks, unless it is STOPPED, and gets the thread ready. */
enum wndl_rt_verdict wndl_rt_sample_begin(struct wndl_rt_sample *sample);

/*
 * A sample that stands for `cpu` ns. False: it is lost, and counted so; what
 * it stood for is left for the next one.
 */
bool wndl_rt_sample_take(const struct wndl_rt_sample *sample, uint64_t cpu);

/* The calling thread begins or ends; all signals must be blocked. Either writes
 * what the ring does not say of it yet. */
void wndl_rt_thread_announce(struct wndl_rt_thread *thread);
void wndl_rt_thread_exit_self(struct wndl_rt_thread *thread);

/*
 * An event of the calling thread's, all signals blocked. False when there is
 * no room for it.
 */
bool wndl_rt_event_emit(
    struct wndl_rt_thread *thread, const struct wndl_event *event);

#endif
