/* SPDX-License-Identifier: MIT */
/* engine: what samples running threads, as far as the kernel lets it. */
#ifndef WNDL_COLLECT_START_ENGINE_H
#define WNDL_COLLECT_START_ENGINE_H

#include "base/status.h"
#include "rec/shm.h"

struct wndl_collector_engine {
    uint32_t engine;   /* enum wndl_engine */
    uint32_t fallback; /* what a process may take instead, or NONE */
    bool sample_kernel;
    int refusal;  /* errno why perf events are not to be had; 0 if they are */
    int paranoid; /* kernel.perf_event_paranoid, -2 if it cannot be read */
};

/* The best engine that the kernel lets us have. */
void wndl_collector_probe(struct wndl_collector_engine *engine);

/*
 * The engine `wanted`, WNDL_ENGINE_NONE for the best. DENIED when this machine
 * refuses it, with the setting that does so.
 */
enum wndl_status wndl_collector_choose(struct wndl_collector_engine *engine,
    enum wndl_engine wanted, struct wndl_error *err) WNDL_MUST_USE;

#endif
