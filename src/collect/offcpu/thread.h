/* SPDX-License-Identifier: MIT */
/*
 * thread: one thread over many reads: where it is blocked, and since when. For
 * each thread, from its first read on,
 *
 *     run + waiting + blocked == wall
 *
 * `run` is the kernel's count; the other two are written as spans. Unknown is
 * only when, between two reads, the thread ran.
 */
#ifndef WNDL_COLLECT_OFFCPU_THREAD_H
#define WNDL_COLLECT_OFFCPU_THREAD_H

#include "collect/offcpu/stack.h"
#include "collect/offcpu/task.h"

enum { WNDL_OFFCPU_UNKNOWN = -1 };

/*
 * Invariants: all time before `reported` is in the spans, except `owed`
 * (blocked ns; < 0 when too much was written, since the run time of a running
 * thread lags). If `is_blocked`, the thread was blocked in `stack` when its
 * slices were reported.slices.
 */
struct wndl_offcpu_thread {
    struct wndl_offcpu_task task; /* tid 0: free */
    /* Index in the list of the process's threads, or UNKNOWN. */
    size_t position;
    bool is_left_out; /* the user does not want it; then is_blocked is false */
    struct wndl_offcpu_times reported;
    /* when last seen to run; time 0: blocked since */
    struct wndl_offcpu_times ran;
    uint64_t moved; /* the last read before it moved */
    uint64_t came;  /* the first read that saw it run, after a block */
    int64_t owed;
    uint64_t run;    /* run time up to `reported`, ns, without skips */
    uint64_t unseen; /* ns before its first read that are not explained */
    uint64_t since;  /* start of the block */
    uint64_t due;    /* time of the next read */
    uint64_t named;  /* time of the last read of its name; 0: never */
    uint64_t gone; /* time at which it was found to have ended; 0: it has not */
    bool is_blocked;
    bool was_active; /* since the last read of its name */
    struct wndl_offcpu_stack stack;
    struct wndl_offcpu_spans spans;
};

/* The process's part of the state that a read needs. */
struct wndl_offcpu_process {
    struct wndl_offcpu_subject subject;
    uint64_t interval; /* ns between reads, as of this turn */
    int folder;        /* /proc/PID/task */
    int hidden;        /* errno of a read that the kernel refused; 0: none */
};

/* Makes a free entry that of `tid`. False when the thread is gone already. */
bool wndl_offcpu_thread_begin(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, uint32_t tid, uint64_t now);

/*
 * The thread is known to have begun at `born`: the time since is written too.
 */
void wndl_offcpu_thread_born(struct wndl_offcpu_thread *thread, uint64_t born);

/* Reads the thread. False when it is gone. */
bool wndl_offcpu_thread_look(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

/* Reads it, and adds spans for all time up to now. False when it is gone. */
bool wndl_offcpu_thread_settle(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

/* The thread ended at `time`: adds the block that it was in until then. */
void wndl_offcpu_thread_ended(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, uint64_t time);

/* Skips all time up to now. False when it is gone. */
bool wndl_offcpu_thread_skip(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

/* Frees what the entry holds; it can then be used again. */
void wndl_offcpu_thread_free(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process);

#endif
