/* SPDX-License-Identifier: MIT */
/* filter: the threads that the user wants to see. Signal-safe. */
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
 * Whether one of `patterns`, separated by commas, matches the thread. No
 * patterns at all match every thread. "*" matches any thread, "main" the
 * initial one, "pid:N" all of process N; anything else matches a part of the
 * name, without regard to case.
 */
bool wndl_filter_has(
    const char *patterns, const struct wndl_filter_thread *thread);

#endif
