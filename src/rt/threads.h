/* SPDX-License-Identifier: MIT */
/*
 * threads: what the recorder keeps for each sampled thread. Threads are told
 * apart by their kernel id: TLS may be shared by threads made with bare
 * clone(), and is not there yet when a thread starts.
 */
#ifndef WNDL_RT_THREADS_H
#define WNDL_RT_THREADS_H

#include "rec/event.h"
#include "rt/stacks.h"

#include <stdatomic.h>
#include <windlass/unwind.h>

enum {
    WNDL_RT_FRAMES = 32 * 1024, /* innermost, of a deeper stack */
    WNDL_RT_PAGES = 256,        /* a power of two */
    WNDL_RT_SCRATCH = 4096 + 256,
};

/*
 * Used by its own thread only, in the signal handler. The last walk is kept
 * root first: last_nodes[i] is the tree's node for last_keys[0..i].
 */
struct wndl_rt_thread {
    int tid;
    int timer;          /* of the timer engine, -1 for none */
    uint32_t slot;      /* its ring */
    uint32_t image;     /* of wndl_rt.image: older is void */
    uint32_t rules_age; /* of wndl_rt.rules_age */
    uint32_t epoch;     /* of wndl_rt.epoch */
    uint32_t samples;   /* tried */
    uint32_t last_count;
    volatile bool busy;
    bool announced;     /* the ring says whose it is */
    uint64_t last_time; /* of the last event that is in the ring */
    uint64_t last_cpu;
    char name[WNDL_EVENT_NAME_MAX];
    struct wndl_rt_stacks stacks;
    struct wndl_unwinder *unwinder;
    uint64_t pages[WNDL_RT_PAGES]; /* code pages whose module is listed */
    uint64_t last_keys[WNDL_RT_FRAMES];
    uint32_t last_nodes[WNDL_RT_FRAMES];
    struct wndl_frame frames[WNDL_RT_FRAMES];
    uint8_t scratch[WNDL_RT_SCRATCH];
};

/*
 * The memory of thread `tid`, which must be the calling one; made if new.
 * NULL when there is no room. Signal-safe.
 */
struct wndl_rt_thread *wndl_rt_thread_of(int tid);

/* Everything about the thread is forgotten: its id belongs to another now. */
void wndl_rt_thread_renew(struct wndl_rt_thread *thread);

/* In a forked child: no thread is known. */
void wndl_rt_threads_forget(void);

#endif
