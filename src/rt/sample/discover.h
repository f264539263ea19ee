/* SPDX-License-Identifier: MIT */
/*
 * discover: finds threads whose start no hook saw, for engines that need a
 * timer for each. They are made by bare clone(), thrd_create(), or libc itself.
 */
#ifndef WNDL_RT_SAMPLE_DISCOVER_H
#define WNDL_RT_SAMPLE_DISCOVER_H

#include "rt/sample/sample.h"

/*
 * Searches for such threads from time to time, and calls `start` with each. An
 * engine calls this at each of its signals, in the handler.
 */
void wndl_rt_discover(const struct wndl_rt_sample *sample,
    bool (*start)(struct wndl_rt_thread *thread));

#endif
