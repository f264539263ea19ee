/* SPDX-License-Identifier: MIT */
/* watch: the memory of processes, seen from outside, into their logs. */
#ifndef WNDL_CLI_MEMLOG_WATCH_H
#define WNDL_CLI_MEMLOG_WATCH_H

#include "cli/core/options.h"
#include "cli/memlog/observe.h"

/* Which processes are watched: all, one with its children, or those given. */
struct wndl_watch_request {
    bool is_all;
    pid_t tree; /* 0: none */
    struct wndl_operands pids;
    double interval; /* seconds */
    uint64_t above;  /* bytes of the least step */
    uint64_t keep;   /* days, as in keep.h */
};

struct wndl_watch {
    struct wndl_watch_request request;
    struct wndl_observing how;
    struct wndl_observed **all; /* the first `sorted` of them by pid */
    size_t count, sorted, room;
    size_t logs; /* of those, with a log */
    uint64_t stalled, stalled_at;
    uint64_t pause;     /* ns to wait before the next round */
    uint64_t next_keep; /* CLOCK_MONOTONIC ns */
    bool has_children;  /* proc(5) has "task/TID/children" */
    bool has_said;      /* that a process has no log */
};

/* False: said why. Ends with wndl_watch_end. */
bool wndl_watch_begin(
    struct wndl_watch *watch, const struct wndl_watch_request *request);

/* Reads all processes once; false: there is nothing left to watch. */
bool wndl_watch_round(struct wndl_watch *watch);

void wndl_watch_end(struct wndl_watch *watch);

/* Watches until all have ended, or for ever. Returns the exit code. */
int wndl_watch_run(const struct wndl_watch_request *request);

#endif
