/* SPDX-License-Identifier: MIT */
/*
 * sample: samples the calling thread from its signal handler, with all signals
 * blocked, and writes the thread's other events.
 */
#ifndef WNDL_RT_SAMPLE_SAMPLE_H
#define WNDL_RT_SAMPLE_SAMPLE_H

#include "rt/sample/threads.h"

#include <ucontext.h>

struct wndl_rt_sample {
    struct wndl_rt_thread *thread;
    ucontext_t *context;
    uint64_t now;   /* CLOCK_MONOTONIC ns */
    uint64_t cpu;   /* of the thread, ns */
    bool in_kernel; /* it stands for time in the kernel */
};

enum wndl_rt_verdict {
    WNDL_RT_STOPPED, /* recording has stopped for good */
    WNDL_RT_SKIP,    /* paused, left out by pattern, or no room */
    WNDL_RT_TAKE,
};

/* Reads the clocks, unless STOPPED, and prepares the thread. */
enum wndl_rt_verdict wndl_rt_sample_begin(struct wndl_rt_sample *sample);

/*
 * Takes a sample that stands for `cpu` ns. False if it is lost, and counted as
 * such. Its time is then left for the next one.
 */
bool wndl_rt_sample_take(const struct wndl_rt_sample *sample, uint64_t cpu);

/* CPU ns of the thread up to `cpu`, its clock, that no sample has counted. */
uint64_t wndl_rt_thread_open(const struct wndl_rt_thread *thread, uint64_t cpu);

/*
 * Makes the calling thread's samples begin now: the time before belongs to the
 * loader, or to the image before an exec.
 */
void wndl_rt_thread_begin_now(struct wndl_rt_thread *thread);

/*
 * Ns after which a new thread's first sample is due: uniform over an interval,
 * so that threads that live for less are sampled as often as they use CPU time.
 */
uint64_t wndl_rt_first_interval(const struct wndl_rt_thread *thread);

/*
 * Begin or end the calling thread; all signals must be blocked. Both write what
 * the ring does not contain of the thread yet.
 */
void wndl_rt_thread_announce(struct wndl_rt_thread *thread);
void wndl_rt_thread_exit_self(struct wndl_rt_thread *thread);

/*
 * Writes an event of the calling thread, with all signals blocked. False if
 * there is no room.
 */
bool wndl_rt_event_emit(
    struct wndl_rt_thread *thread, const struct wndl_event *event);

#endif
