/* SPDX-License-Identifier: MIT */
/*
 * unrecorded: processes that run under us and have not said hello.
 */
#ifndef WNDL_COLLECT_LOOP_UNRECORDED_H
#define WNDL_COLLECT_LOOP_UNRECORDED_H

#include "collect/loop/processes.h"

struct wndl_unrecorded_entry;

struct wndl_unrecorded {
    struct wndl_run *run;
    struct wndl_processes *processes;
    struct wndl_unrecorded_entry *first;
    pid_t newest_pid; /* in the system, when we last looked */
    uint64_t scan;    /* when to look for newer ones, if there are */
    uint64_t regard;  /* when to look at those that are known again */
    struct wndl_collector_unrecorded named[WNDL_COLLECTOR_NAMED];
};

/* Only what starts from now on is of interest. */
void wndl_unrecorded_begin(struct wndl_unrecorded *all);

/* Whether there may be processes that have not been looked at. */
bool wndl_unrecorded_new(const struct wndl_unrecorded *all);

/* Looks for processes that say nothing. */
void wndl_unrecorded_look(struct wndl_unrecorded *all);

/* It talks to us after all. */
void wndl_unrecorded_greeted(struct wndl_unrecorded *all, pid_t pid);

/* It says itself that it cannot be recorded. */
void wndl_unrecorded_refused(
    struct wndl_unrecorded *all, pid_t pid, enum wndl_unrecorded_reason reason);

/* A recorded process runs another program now, and says nothing. */
void wndl_unrecorded_replaced(
    struct wndl_unrecorded *all, const struct wndl_process_entry *entry);

/* The recording ends: what is known of them is told. Gives all back. */
void wndl_unrecorded_end(struct wndl_unrecorded *all);

#endif
