/* SPDX-License-Identifier: MIT */
/*
 * threads: the threads of a process in the recording. The rings report some,
 * others are found from outside; both ways lead to one index.
 */
#ifndef WNDL_COLLECT_OFFCPU_THREADS_H
#define WNDL_COLLECT_OFFCPU_THREADS_H

#include "base/map.h"
#include "base/vec.h"
#include "wndl/write.h"

struct wndl_collector_thread {
    uint32_t tid;
    uint32_t index; /* in the recording */
    bool ended;
    uint64_t end; /* CLOCK_MONOTONIC ns */
    /* The same, as the kernel reported it, before the end is announced; 0: it
     * has not. */
    uint64_t exit;
    uint64_t sampled; /* ns of CPU time in samples from outside */
    char name[16];
};

/*
 * The threads of one process. Zeroed memory needs wndl_collector_threads_init.
 */
struct wndl_collector_threads {
    struct wndl_recording *recording;
    uint32_t *count;  /* of all threads in the recording: the next index */
    uint32_t process; /* index in the recording */
    struct wndl_arena arena;
    struct wndl_vec all; /* struct wndl_collector_thread */
    /* index in `all` + 1, of the latest with this tid */
    struct wndl_map by_tid;
};

/* Makes it empty for `process`. `recording` and *count outlive it. */
void wndl_collector_threads_init(struct wndl_collector_threads *threads,
    struct wndl_recording *recording, uint32_t process, uint32_t *count);
void wndl_collector_threads_free(struct wndl_collector_threads *threads);

/*
 * The running thread `tid`, announced in the recording (without a name) if it
 * is new, or if the last one with this tid has ended. `time` is CLOCK_MONOTONIC
 * ns. Valid until the next call. NULL when memory is out.
 */
struct wndl_collector_thread *wndl_collector_thread_of(
    struct wndl_collector_threads *threads, uint32_t tid, uint64_t time);

/* Whether the latest thread `tid` has ended at or after `time`. */
bool wndl_collector_thread_ended_since(
    struct wndl_collector_threads *threads, uint32_t tid, uint64_t time);

/* Announces a name, unless the thread has it already. */
void wndl_collector_thread_name(struct wndl_collector_threads *threads,
    struct wndl_collector_thread *thread, const char *name, uint64_t time);

/* Adds to the CPU time in samples of the running thread `tid`. */
void wndl_collector_thread_sampled(
    struct wndl_collector_threads *threads, uint32_t tid, uint64_t cpu);

/*
 * Announces the end, once. `cpu`: ns of CPU time that none of its samples has.
 */
void wndl_collector_thread_end(struct wndl_collector_threads *threads,
    struct wndl_collector_thread *thread, uint64_t time, uint64_t cpu);

#endif
