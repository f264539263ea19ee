/* SPDX-License-Identifier: MIT */
/*
 * outside: the memory event log of a process, written by another one that
 * watches it. Its events have no thread.
 */
#ifndef WNDL_COLLECT_MEMORY_OUTSIDE_H
#define WNDL_COLLECT_MEMORY_OUTSIDE_H

#include "base/status.h"

#include <sys/types.h>
#include <windlass/memlog.h>

/* Types of its events, with their numbers. */
enum wndl_outside_type {
    WNDL_OUTSIDE_RSS,      /* resident, swapped */
    WNDL_OUTSIDE_PSS,      /* proportional share */
    WNDL_OUTSIDE_FAULTS,   /* minor, major, ns */
    WNDL_OUTSIDE_MAPPED,   /* address, size; text: of which file */
    WNDL_OUTSIDE_UNMAPPED, /* the same */
    WNDL_OUTSIDE_CODE,     /* the same */
    WNDL_OUTSIDE_LIMIT,    /* limit, used; text: cgroup */
    WNDL_OUTSIDE_REFUSED,  /* refused, killed; text: cgroup */
    WNDL_OUTSIDE_NAME,     /* none; text: the name from then on */
    WNDL_OUTSIDE_END,      /* none */
    WNDL_OUTSIDE_TYPES
};

/* Used by the thread that opened it. It must not move while it is open. */
struct wndl_outside {
    struct wndl_memlog_page page;
    size_t size; /* of the file */
    struct wndl_memlog_type types[WNDL_OUTSIDE_TYPES];
};

/*
 * Makes the log of the process `pid` in an open folder. IO if the file cannot
 * be made or has no room. The file stays when the log is closed.
 */
enum wndl_status wndl_outside_open(struct wndl_outside *log, int folder,
    pid_t pid, struct wndl_error *err) WNDL_MUST_USE;

void wndl_outside_put(struct wndl_outside *log, enum wndl_outside_type type,
    const int64_t *numbers, unsigned count, const char *text);

/* The process has another name: another program, in most cases. */
void wndl_outside_rename(struct wndl_outside *log);

void wndl_outside_close(struct wndl_outside *log);

#endif
