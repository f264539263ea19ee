/* SPDX-License-Identifier: MIT */
/* observe: the memory of one process, seen from outside, into its log. */
#ifndef WNDL_CLI_MEMLOG_OBSERVE_H
#define WNDL_CLI_MEMLOG_OBSERVE_H

#include "collect/memory/cgroup.h"
#include "collect/memory/outside.h"
#include "collect/memory/steps.h"
#include "collect/memory/usage.h"

/* Facts that all processes share. Times are ns of CLOCK_MONOTONIC. */
struct wndl_observing {
    int folder;     /* where logs are */
    uint64_t above; /* bytes of the least step */
    uint64_t now;
    bool is_lazy; /* no log before the process's size moves */
};

struct wndl_observed {
    pid_t pid;
    uint64_t start; /* clock ticks since boot */
    char name[16];
    uint64_t reported; /* bytes resident at the last "rss" */
    uint64_t weighed;  /* and at the last "pss" */
    uint64_t stepped;  /* and when its mappings were read */
    uint64_t mapped;   /* bytes mapped then */
    uint64_t minor, major, faults_at;
    uint64_t next_weighing, next_step, next_limit;
    struct wndl_outside *log; /* NULL: none yet */
    struct wndl_step_map map;
    struct wndl_cgroup *group; /* NULL: none */
    struct wndl_cgroup_state limit;
    bool is_seen; /* for the caller */
};

/* NULL if memory is out. */
struct wndl_observed *wndl_observe_begin(
    pid_t pid, const struct wndl_usage *usage);

/* Logs what has changed. Not OK if the process can have no log. */
enum wndl_status wndl_observe(struct wndl_observed *process,
    const struct wndl_observing *how, const struct wndl_usage *usage,
    struct wndl_error *err) WNDL_MUST_USE;

/* Frees all but the file. `is_over`: the process has ended. */
void wndl_observe_end(struct wndl_observed *process, bool is_over);

#endif
