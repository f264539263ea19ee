/* SPDX-License-Identifier: MIT */
/*
 * events: writing to a thread's ring. Its own thread writes, with all signals
 * blocked; once that has ended, whoever has found out.
 */
#ifndef WNDL_RT_SAMPLE_EVENTS_H
#define WNDL_RT_SAMPLE_EVENTS_H

#include "rec/event.h"
#include "rec/ring.h"

/* False when there is no room. */
bool wndl_rt_event_put(struct wndl_ring *ring, const struct wndl_event *event);

/* The ring's thread has ended; `cpu` ns of it are in no sample. */
void wndl_rt_thread_exit(struct wndl_ring *ring, uint64_t cpu);

/* There is no room. If nobody is there to make any, recording ends. */
void wndl_rt_lose_to_full_ring(void);

#endif
