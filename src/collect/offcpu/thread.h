/* SPDX-License-Identifier: MIT */
/*
 * thread: one thread, look after look: where it is blocked, and since
 * when. For each thread, from its first look on,
 *
 *     run + waiting + blocked == wall
 *
 * run is as the kernel counts it; the other two are told as spans. What is
 * not known of the time between two looks is where in it the thread ran.
 */
#ifndef WNDL_COLLECT_OFFCPU_THREAD_H
#define WNDL_COLLECT_OFFCPU_THREAD_H

#include "collect/offcpu/stack.h"
#include "collect/offcpu/task.h"

enum { WNDL_OFFCPU_UNKNOWN = -1 };

/*
 * Invariants: all before `told` is in the spans, but for `owed` (blocked ns,
 * < 0 when too much was told: the run time of a running thread lags behind).
 * `is_blocked`: it was blocked in `stack` when told.slices was what it is.
 */
struct wndl_offcpu_thread {
    struct wndl_offcpu_task task; /* tid 0: free */
    /* In the list of the process's threads, or UNKNOWN. */
    size_t position;
    bool is_left_out; /* the user does not want to see it; not blocked then */
    struct wndl_offcpu_times reported;
    struct wndl_offcpu_times ran; /* when last seen to; time 0: blocked since */
    uint64_t moved;               /* when it was last seen before it moved */
    uint64_t came; /* when it was first seen to run, after a block */
    int64_t owed;
    uint64_t run;    /* up to `told`, ns, but for what was skipped */
    uint64_t unseen; /* ns before its first look, when it ran, not explained */
    uint64_t since;  /* of the block */
    uint64_t due;    /* the next look */
    uint64_t named;  /* when its name was looked at last; 0: never */
    uint64_t gone;   /* when it was seen to have ended; 0: it has not */
    bool is_blocked;
    bool was_active; /* since its name was looked at */
    struct wndl_offcpu_stack stack;
    struct wndl_offcpu_spans spans;
};

/* What looks need to know of the process. */
struct wndl_offcpu_process {
    struct wndl_offcpu_subject subject;
    uint64_t interval; /* ns between looks, as of this turn */
    int folder;        /* /proc/PID/task */
    int hidden;        /* errno of what the kernel would not tell of it; 0 */
};

/* A free one becomes that of `tid`. False when it is gone already. */
bool wndl_offcpu_thread_begin(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, uint32_t tid, uint64_t now);

/* It is known to have begun at `born`: the time since is told too. */
void wndl_offcpu_thread_born(struct wndl_offcpu_thread *thread, uint64_t born);

/* False when it is gone. */
bool wndl_offcpu_thread_look(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

/* Looks, and tells all up to now. False when it is gone. */
bool wndl_offcpu_thread_settle(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

/* It ended at `time`: a block that it was in until then is told. */
void wndl_offcpu_thread_ended(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, uint64_t time);

/* What was up to now is not told. False when it is gone. */
bool wndl_offcpu_thread_skip(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

/* Gives back what it holds; then it is free. */
void wndl_offcpu_thread_free(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

#endif
