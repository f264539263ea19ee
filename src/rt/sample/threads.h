/* SPDX-License-Identifier: MIT */
/*
 * threads: what the recorder keeps for each sampled thread. Threads are told
 * apart by their kernel id: TLS may be shared by threads made with bare
 * clone(), and is not there yet when a thread starts.
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
 * Used by its own thread only, in the signal handler or with all signals
 * blocked.
 */
struct wndl_rt_thread {
    int tid;
    uint32_t slot;      /* its ring */
    uint32_t rules_age; /* of wndl_rt.rules_age */
    uint32_t pauses;    /* of the block's `paused` */
    uint32_t looks;     /* for names */
    bool announced;     /* the ring says whose it is */
    bool left_out;      /* by the pattern of threads */
    bool named;         /* the ring says its name */
    bool stood_still;   /* TIMER: at the last look */
    int timer;          /* on CLOCK_MONOTONIC, -1 for none */
    int tick;           /* on the thread's CPU clock, -1 for none */
    uint64_t last_time; /* of the last event that is in the ring */
    uint64_t last_cpu;  /* of the last sample */
    uint64_t look_time; /* TIMER: of the last look */
    uint64_t look_cpu;
    uint64_t next_signal; /* TIMER: at most so many ns behind the last look */
    /* PERF with ticks: the CPU clock at the event's last sample; CPU ns up to
     * last_cpu that are in no sample; faults up to the last tick's. */
    uint64_t perf_cpu, debt, faults;
    struct wndl_rt_time rest; /* of a call that is gone on with */
    char name[WNDL_EVENT_NAME_MAX];
    struct wndl_rt_stacks stacks;
    struct wndl_resume *walks; /* frames carry their nodes, 0 for none */
    uint8_t *stack;            /* for its walks: own_stack.h */
    struct wndl_rt_known known;
    uint8_t scratch[WNDL_RT_SCRATCH];
};

/*
 * The memory of thread `tid`, which must be the calling one; made if new.
 * NULL when there is no room. All signals must be blocked.
 */
struct wndl_rt_thread *wndl_rt_thread_of(int tid);

/* The same, without making it. */
struct wndl_rt_thread *wndl_rt_thread_find(int tid);

/*
 * That this is the calling thread's, whose TLS must be the libc's: not for
 * the handler, which runs in threads made by bare clone, too.
 */
void wndl_rt_thread_begin(struct wndl_rt_thread *thread);

/*
 * The calling thread's, without asking the kernel who it is: as
 * thread_begin() last said. NULL for none. Threads made by bare clone may
 * share it.
 */
struct wndl_rt_thread *wndl_rt_thread_self(void);

/* The one that has this slot now, NULL for none. */
struct wndl_rt_thread *wndl_rt_thread_at(uint32_t slot);

/* Everything about the thread is forgotten: its id belongs to another now. */
void wndl_rt_thread_renew(struct wndl_rt_thread *thread);

/* The calling thread, which ends: its slot is free for another at once. */
void wndl_rt_thread_free(struct wndl_rt_thread *thread);

/* The memory of another thread, which has none and has not been heard of. */
struct wndl_rt_thread *wndl_rt_thread_adopt(int tid);

/* How many have memory, and giving back that of those that have ended. */
uint32_t wndl_rt_threads_known(void);
void wndl_rt_threads_sweep(void);

/* In a forked child: no thread is known. */
void wndl_rt_threads_forget(void);

#endif
