/* SPDX-License-Identifier: MIT */
/*
 * discover: threads that no hook saw beginning, for engines that need a timer
 * for each: those of bare clone(), of thrd_create(), of the libc itself.
 */
#ifndef WNDL_RT_SAMPLE_DISCOVER_H
#define WNDL_RT_SAMPLE_DISCOVER_H

#include "rt/sample/sample.h"

/*
 * Now and then looks for such threads, and calls `start` with each. Called at
 * each look of an engine's, in the handler.
 */
void wndl_rt_discover(const struct wndl_rt_sample *sample,
    bool (*start)(struct wndl_rt_thread *thread));

#endif
