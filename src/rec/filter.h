/* SPDX-License-Identifier: MIT */
/*
 * filter: which threads the user wants to see. Signal-safe.
 */
#ifndef WNDL_REC_FILTER_H
#define WNDL_REC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* A thread, as patterns see it. */
struct wndl_filter_thread {
    int pid;
    int tid;
    const char *name;
};

/*
 * Whether one of `patterns`, separated by commas, is meant for the thread;
 * none at all is for all. "*" is any thread, "main" the initial one, "pid:N"
 * all of process N, anything else a part of the name in any case.
 */
bool wndl_filter_has(
    const char *patterns, const struct wndl_filter_thread *thread);

#endif
