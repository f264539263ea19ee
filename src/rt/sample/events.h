/* SPDX-License-Identifier: MIT */
/*
 * events: writes to a thread's ring. The writer is the thread itself, with all
 * signals blocked, or after its end whoever noticed that.
 */
#ifndef WNDL_RT_SAMPLE_EVENTS_H
#define WNDL_RT_SAMPLE_EVENTS_H

#include "rec/event.h"
#include "rec/ring.h"

/* Writes an event. False if there is no room. */
bool wndl_rt_event_put(struct wndl_ring *ring, const struct wndl_event *event);

/* Notes that the ring's thread has ended. `cpu` ns of it are in no sample. */
void wndl_rt_thread_exit(struct wndl_ring *ring, uint64_t cpu);

/*
 * Counts an event that did not fit the ring. Ends the recording if the
 * collector, which would make room, is gone.
 */
void wndl_rt_lose_to_full_ring(void);

#endif
