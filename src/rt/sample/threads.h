/* SPDX-License-Identifier: MIT */
/*
 * threads: the recorder's memory of each sampled thread. Its key is the
 * kernel's thread id, because threads made with bare clone() may share TLS, and
 * TLS is not ready yet when a thread starts.
 */
#ifndef WNDL_RT_SAMPLE_THREADS_H
#define WNDL_RT_SAMPLE_THREADS_H

#include "rec/event.h"
#include "rt/core/rt.h"
#include "rt/sample/restart.h"
#include "rt/walk/stack_nodes.h"
#include "rt/walk/stacks.h"

#include <stdatomic.h>
#include <time.h>
#include <windlass/unwind.h>

/*
 * A thread's memory. Only the thread itself uses it, in the signal handler or
 * with all signals blocked.
 */
struct wndl_rt_thread {
    int tid;
    uint32_t slot;      /* index of its ring */
    uint32_t rules_age; /* of wndl_rt.rules_age */
    uint32_t pauses;    /* of the block's `paused` */
    uint32_t looks;     /* number of looks at its name */
    bool announced;     /* the ring has its id */
    bool left_out;      /* by the pattern of threads */
    bool named;         /* the ring has its name */
    bool stood_still;   /* TIMER: no progress at the last look */
    int timer;          /* on CLOCK_MONOTONIC, -1 for none */
    int tick;           /* on the thread's CPU clock, -1 for none */
    uint64_t last_time; /* of the last event in the ring */
    uint64_t last_cpu;  /* of the last sample */
    uint64_t look_time; /* TIMER: time of the last look */
    uint64_t look_cpu;
    uint64_t next_signal; /* TIMER: next signal, at most so many ns after it */
    /* CPU ns up to last_cpu that are in no sample; negative: that samples have
     * counted in advance. */
    int64_t debt;
    /* PERF: the CPU clock at the event's last sample; page faults up to the
     * last tick; CLOCK_MONOTONIC when the first sample is due, 0: it is
     * past. */
    uint64_t perf_cpu, faults, first;
    struct wndl_rt_time rest; /* of a call that is being continued */
    char name[WNDL_EVENT_NAME_MAX];
    struct wndl_rt_stacks stacks;
    struct wndl_resume *walks; /* frames carry their nodes; 0: none */
    uint8_t *stack;            /* for walks: own_stack.h */
    struct wndl_rt_known known;
    uint8_t scratch[WNDL_RT_SCRATCH];
};

/*
 * The memory of thread `tid`, which must be the calling one. It is made if it
 * is new; NULL if there is no room. All signals must be blocked.
 */
struct wndl_rt_thread *wndl_rt_thread_of(int tid);

/* The same, but never makes it. */
struct wndl_rt_thread *wndl_rt_thread_find(int tid);

/*
 * Makes `thread` that of the calling thread. The thread's TLS must be libc's:
 * not for the handler, which also runs in threads made by bare clone.
 */
void wndl_rt_thread_begin(struct wndl_rt_thread *thread);

/*
 * The memory of the calling thread, as the last thread_begin() set it, found
 * without asking the kernel for the thread's id. NULL for none. Threads made by
 * bare clone may share it.
 */
struct wndl_rt_thread *wndl_rt_thread_self(void);

/* The thread that has this slot now; NULL for none. */
struct wndl_rt_thread *wndl_rt_thread_at(uint32_t slot);

/* Clears the memory: its id belongs to another thread now. */
void wndl_rt_thread_renew(struct wndl_rt_thread *thread);

/* Frees the memory of the calling thread, which ends. Its slot is reused. */
void wndl_rt_thread_free(struct wndl_rt_thread *thread);

/* Makes the memory of another thread that has none and is not announced. */
struct wndl_rt_thread *wndl_rt_thread_adopt(int tid);

/* Count the threads with memory; free the memory of those that have ended. */
uint32_t wndl_rt_threads_known(void);
void wndl_rt_threads_sweep(void);

/* In a forked child: forgets all threads. */
void wndl_rt_threads_forget(void);

#endif
