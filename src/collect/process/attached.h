/* SPDX-License-Identifier: MIT */
/*
 * attached: the samples of a process without a runtime, which perf events take
 * from outside, on their way into the recording.
 */
#ifndef WNDL_COLLECT_PROCESS_ATTACHED_H
#define WNDL_COLLECT_PROCESS_ATTACHED_H

#include "collect/attach/walks.h"
#include "collect/process/process.h"

/* Settings that all attached processes share. */
struct wndl_attached_settings {
    struct wndl_attach_shared *walks; /* borrowed */
    const char *wanted; /* thread name patterns; as in struct wndl_go */
    uint64_t interval;  /* ns of CPU time that a sample stands for */
};

/*
 * Makes room for samples. `settings` is borrowed. False without memory.
 */
bool wndl_collector_process_attach(struct wndl_collector_process *p,
    const struct wndl_attached_settings *settings);

/*
 * Gives a process its parent's code, which it has until it executes another
 * program.
 */
void wndl_collector_process_inherit(struct wndl_collector_process *p,
    const struct wndl_collector_process *parent);

/*
 * Takes a record of one of its threads, in the order of time. One that is gone
 * takes none.
 */
void wndl_collector_process_record(
    struct wndl_collector_process *p, const struct wndl_attach_record *record);

/* The code may have changed: the map is read again before the next sample. */
void wndl_collector_process_forget_code(struct wndl_collector_process *p);

/* Writes the samples taken so far. */
void wndl_collector_process_put_samples(struct wndl_collector_process *p);

/* The nodes of stacks that were written; 0 if it is not attached. */
uint32_t wndl_collector_process_attached_nodes(
    const struct wndl_collector_process *p);

/* Reads what code it has, if it is attached. `now` is CLOCK_MONOTONIC ns. */
void wndl_collector_process_read_code(
    struct wndl_collector_process *p, uint64_t now);

/* Frees what wndl_collector_process_attach made; also nothing. */
void wndl_collector_process_detach(struct wndl_collector_process *p);

#endif
