/* SPDX-License-Identifier: MIT */
/*
 * targets: the events of threads that were there when we attached. Threads that
 * they start later inherit their events.
 */
#ifndef WNDL_COLLECT_ATTACH_TARGETS_H
#define WNDL_COLLECT_ATTACH_TARGETS_H

#include "base/map.h"
#include "base/vec.h"
#include "collect/attach/event.h"
#include "collect/attach/record.h"
#include "collect/attach/ring.h"

struct wndl_attach_targets {
    struct wndl_attach_event event;
    const struct wndl_attach_ring *rings; /* borrowed */
    size_t ring_count;
    struct wndl_arena arena;
    struct wndl_vec fds;    /* struct wndl_attach_fd, by thread */
    struct wndl_map by_tid; /* number of the thread's target, from 1 on */
    struct wndl_map by_id;  /* the same, of an event's id */
    struct wndl_map places; /* place in `owners` + 1, of each sampled thread */
    struct wndl_vec owners; /* struct wndl_attach_owner */
    uint32_t count;         /* threads so far */
    uint32_t refused;       /* threads without an event */
    int refused_errno;      /* the reason for the last of those */
    uint64_t anew; /* CLOCK_MONOTONIC ns: the events before that are closed */
    bool out_of_memory;
};

enum { WNDL_ATTACH_ALL = -1 }; /* as a `tid`: all threads of the machine */

struct wndl_attach_thread {
    pid_t pid;
    uint32_t tid;
};

struct wndl_attach_fd {
    int fd;          /* -1: closed */
    uint32_t target; /* number of its thread's target */
    struct wndl_attach_thread thread;
};

/* The target whose event samples a thread, and when that last did. */
struct wndl_attach_owner {
    uint64_t target, time;
};

/* Makes it empty. Both are borrowed. */
void wndl_attach_targets_init(struct wndl_attach_targets *targets,
    const struct wndl_attach_ring *rings, size_t ring_count);
void wndl_attach_targets_free(struct wndl_attach_targets *targets);

/*
 * Opens events for all threads of a process that have none; `enabled`: they
 * sample at once. Returns 0, or the errno for which none of them has one, or
 * for which no descriptor was left for one.
 */
int wndl_attach_targets_add(
    struct wndl_attach_targets *targets, pid_t pid, bool enabled);

/*
 * Opens an event for all threads of the machine on each CPU, or none. Returns
 * 0 or the errno.
 */
int wndl_attach_targets_add_all(
    struct wndl_attach_targets *targets, bool enabled);

/*
 * Closes the events of a process, if it has some. Those that its threads have
 * inherited end with them; also those of processes that it forked, if
 * `event.has_children`.
 */
void wndl_attach_targets_release(
    struct wndl_attach_targets *targets, pid_t pid);

/* Enables or disables all events. */
void wndl_attach_targets_switch(
    const struct wndl_attach_targets *targets, bool enabled);

/*
 * Whether a sample counts. A thread that began while we attached may have an
 * event of its own, and have inherited another: the former is closed, as one
 * too many.
 */
bool wndl_attach_targets_counts(struct wndl_attach_targets *targets,
    const struct wndl_attach_record *sample);

/* The thread has ended: its number may become another's. */
void wndl_attach_targets_ended(
    struct wndl_attach_targets *targets, uint32_t tid);

#endif
