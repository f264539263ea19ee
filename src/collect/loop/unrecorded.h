/* SPDX-License-Identifier: MIT */
/* unrecorded: processes that run under the command and have not said hello. */
#ifndef WNDL_COLLECT_LOOP_UNRECORDED_H
#define WNDL_COLLECT_LOOP_UNRECORDED_H

#include "collect/loop/processes.h"

struct wndl_unrecorded_entry;

struct wndl_unrecorded {
    struct wndl_run *run;
    struct wndl_processes *processes;
    struct wndl_unrecorded_entry *first;
    pid_t newest_pid; /* the newest in the system at the last search */
    uint64_t scan;    /* when to search for newer ones, if there are any */
    uint64_t regard;  /* when to examine the known ones again */
    struct wndl_collector_unrecorded named[WNDL_COLLECTOR_NAMED];
};

/* Ignores all processes that have started before now. */
void wndl_unrecorded_begin(struct wndl_unrecorded *all);

/* Whether there may be processes that have not been examined. */
bool wndl_unrecorded_new(const struct wndl_unrecorded *all);

/* Searches for processes without a hello. */
void wndl_unrecorded_look(struct wndl_unrecorded *all);

/* `pid` has said hello after all. */
void wndl_unrecorded_greeted(struct wndl_unrecorded *all, pid_t pid);

/* `pid` itself says that it cannot be recorded. */
void wndl_unrecorded_refused(
    struct wndl_unrecorded *all, pid_t pid, enum wndl_unrecorded_reason reason);

/* A recorded process now runs another program, which has not said hello. */
void wndl_unrecorded_replaced(
    struct wndl_unrecorded *all, const struct wndl_process_entry *entry);

/*
 * At the end of the recording: writes what is known of them (UNFO), and frees
 * all.
 */
void wndl_unrecorded_end(struct wndl_unrecorded *all);

#endif
