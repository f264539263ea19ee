/* SPDX-License-Identifier: MIT */
/*
 * stopping: samples of processes without perf events. Each running thread is
 * stopped for a moment, for its registers and a copy of its stack; blocked ones
 * are left alone. One thread.
 */
#ifndef WNDL_COLLECT_LOOP_STOPPING_H
#define WNDL_COLLECT_LOOP_STOPPING_H

#include "collect/attach/record.h"
#include "collect/loop/processes.h"

/* The samples go there. */
struct wndl_stopping_sink {
    void (*take)(void *context, const struct wndl_attach_record *record);
    void *context;
};

struct wndl_stopping;

/* Borrows the processes; NULL without memory. */
struct wndl_stopping *wndl_stopping_new(
    const struct wndl_run *run, const struct wndl_processes *processes);

/*
 * Lets threads go on that have been told to stop and have not yet, as soon as
 * they do, within a moment. Later ones go on when we end. NULL is ignored.
 */
void wndl_stopping_release(struct wndl_stopping *stopping);

/* Releases them, and frees the rest. NULL is ignored. */
void wndl_stopping_free(struct wndl_stopping *stopping);

/*
 * Samples the threads that run, if it is time, and adds to `totals`. Returns
 * when it is time again, CLOCK_MONOTONIC ns.
 */
uint64_t wndl_stopping_turn(struct wndl_stopping *stopping, uint64_t now,
    struct wndl_stopping_sink sink, struct wndl_collector_stops *totals);

#endif
