/* SPDX-License-Identifier: MIT */
/* engine: the sampler of running threads that the kernel allows. */
#ifndef WNDL_COLLECT_START_ENGINE_H
#define WNDL_COLLECT_START_ENGINE_H

#include "base/status.h"
#include "rec/shm.h"

struct wndl_collector_engine {
    uint32_t engine;   /* enum wndl_engine */
    uint32_t fallback; /* what a process may use instead, or NONE */
    int refusal; /* errno of perf_event_open(2); 0: perf events are available */
    int paranoid; /* kernel.perf_event_paranoid; -2: not readable */
    int unread;   /* errno of reading that, or 0 */
};

/* Sets `engine` to the best one that the kernel allows. */
void wndl_collector_probe(struct wndl_collector_engine *engine);

/*
 * Sets it to `wanted`; WNDL_ENGINE_NONE means the best. DENIED when this
 * machine refuses it, with the responsible setting in `err`.
 */
enum wndl_status wndl_collector_choose(struct wndl_collector_engine *engine,
    enum wndl_engine wanted, struct wndl_error *err) WNDL_MUST_USE;

/* A number under /proc/sys/kernel; -2 if it cannot be read. */
int wndl_engine_setting(const char *name);

#endif
