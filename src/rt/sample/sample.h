/* SPDX-License-Identifier: MIT */
/*
 * sample: a look at the calling thread from its signal handler, all signals
 * blocked; and what is told of a thread beside its samples.
 */
#ifndef WNDL_RT_SAMPLE_SAMPLE_H
#define WNDL_RT_SAMPLE_SAMPLE_H

#include "rt/sample/threads.h"

#include <ucontext.h>

struct wndl_rt_look {
    struct wndl_rt_thread *thread;
    ucontext_t *context;
    uint64_t now; /* CLOCK_MONOTONIC ns */
    uint64_t cpu; /* of the thread, ns */
};

enum wndl_rt_looking {
    WNDL_RT_LOOK_NEVER, /* no more: recording has stopped */
    WNDL_RT_LOOK_AWAY,  /* paused, left out, or no room */
    WNDL_RT_LOOK_HERE,
};

/*
 * Reads the clocks, unless it is NEVER, and gets the thread ready to be
 * sampled.
 */
enum wndl_rt_looking wndl_rt_look_begin(struct wndl_rt_look *look);

/*
 * A sample that stands for `cpu` ns. False: it is lost, and counted so; what
 * it stood for is left for the next one.
 */
bool wndl_rt_look_record(const struct wndl_rt_look *look, uint64_t cpu);

/* The calling thread begins or ends; all signals must be blocked. */
void wndl_rt_say_begin(struct wndl_rt_thread *thread);
void wndl_rt_say_own_end(struct wndl_rt_thread *thread);

/*
 * An event of the calling thread's, all signals blocked. False when there is
 * no room for it.
 */
bool wndl_rt_say(struct wndl_rt_thread *thread, const struct wndl_event *event);

#endif
