/* SPDX-License-Identifier: MIT */
/*
 * thread: what a thread remembers of its own allocations. It is reached
 * through TLS, as the allocator's own caches are: where threads share that,
 * they cannot call malloc at once either.
 */
#ifndef WNDL_RT_HEAP_COUNT_THREAD_H
#define WNDL_RT_HEAP_COUNT_THREAD_H

#include "rt/core/rt.h"
#include "rt/heap/count/prefault.h"
#include "rt/heap/count/sites.h"
#include "rt/heap/count/stack_hash.h"
#include "rt/heap/count/stripes.h"
#include "rt/walk/stacks.h"

enum {
    WNDL_RT_FREED = 256, /* a power of two */
};

/* Used by its own thread only, while that is busy. */
struct wndl_rt_heap_thread {
    struct wndl_rt_stripe stripe;
    uint64_t last;       /* its last allocation, 0 when that is gone */
    uint64_t last_size;  /* requested; its site is `alloc_site` */
    uint32_t alloc_site; /* site + 1 of its last allocation, 0 for none */
    uint32_t free_site;  /* the same of its last free */
    uint64_t random;
    uint32_t rules_age; /* of wndl_rt.rules_age */
    uint32_t generation;
    struct wndl_resume *walks; /* frames carry their nodes, 0 for none */
    struct wndl_rt_stacks stacks;
    struct wndl_rt_nodes nodes;
    struct wndl_rt_prefault prefault;
    _Alignas(64) struct wndl_rt_recent recent[WNDL_RT_RECENT_SITES];
    _Atomic uint64_t freed_last[WNDL_RT_FREED]; /* addresses */
    uint32_t freed_next;
    _Atomic int owner;                /* tid, 0 when it is free */
    struct wndl_rt_heap_thread *next; /* of all that there are */
    uint8_t scratch[WNDL_RT_SCRATCH];
};

/*
 * For the calling thread, which is none's yet: with a stripe and nothing that
 * it remembers. From the second stripe on, blocks are shared. NULL: no memory.
 * Not for signal handlers that interrupt it.
 */
struct wndl_rt_heap_thread *wndl_rt_heap_thread_take(struct wndl_heap *heap);

/* The calling thread's: it is free for another, and so is its stripe. */
void wndl_rt_heap_thread_leave(struct wndl_rt_heap_thread *thread);

/* In a forked child: all are free, and no stripe is anybody's. */
void wndl_rt_heap_threads_forget(void);

/* Whether any thread has freed this just before. */
bool wndl_rt_heap_threads_freed(uint64_t address);

/* Whether the memory of any of these is in [start, end). */
bool wndl_rt_heap_threads_are_in(uintptr_t start, uintptr_t end);

/* Calls `visit` with the stack of each thread whose stack is known. */
void wndl_rt_heap_threads_each(
    void (*visit)(void *context, const struct wndl_stack_range *stack),
    void *context);

/*
 * Walks the stack. `regs` are those behind the call of the allocation function.
 * False: it cannot be read. *hash stands for it.
 */
bool wndl_rt_heap_walk(struct wndl_rt_heap_thread *thread,
    const struct wndl_regs *regs, struct wndl_resumed *stack,
    struct wndl_rt_stack_hash *hash);

/* The same, for its leaf's node. Returns 0, or why there is none. */
enum wndl_loss wndl_rt_heap_stack(struct wndl_rt_heap_thread *thread,
    const struct wndl_regs *regs, uint32_t *node);

#endif
