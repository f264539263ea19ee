/* SPDX-License-Identifier: MIT */
/*
 * thread: a thread's memory of its own allocations. It is found through TLS,
 * like the allocator's own caches. Threads that share TLS cannot call malloc at
 * the same time anyway.
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
    uint64_t last;       /* its last allocation, 0 if it was freed */
    uint64_t last_size;  /* requested; its site is `alloc_site` */
    uint32_t alloc_site; /* site + 1 of its last allocation, 0 for none */
    uint32_t free_site;  /* the same for its last free */
    uint64_t random;
    uint32_t rules_age; /* value of wndl_rt.rules_age */
    uint32_t generation;
    struct wndl_resume *walks; /* frames carry their nodes; 0: none */
    struct wndl_rt_stacks stacks;
    struct wndl_rt_nodes nodes;
    struct wndl_rt_prefault prefault;
    _Alignas(64) struct wndl_rt_recent recent[WNDL_RT_RECENT_SITES];
    _Atomic uint64_t freed_last[WNDL_RT_FREED]; /* addresses */
    uint32_t freed_next;
    _Atomic int owner;                /* tid, 0 when it is free */
    struct wndl_rt_heap_thread *next; /* list of all */
    uint8_t scratch[WNDL_RT_SCRATCH];
};

/*
 * Makes the calling thread's memory, with a stripe and empty caches. From the
 * second stripe on, blocks are shared. NULL: no memory. Not for signal handlers
 * that interrupt it.
 */
struct wndl_rt_heap_thread *wndl_rt_heap_thread_take(struct wndl_heap *heap);

/* Frees the calling thread's memory and its stripe. */
void wndl_rt_heap_thread_leave(struct wndl_rt_heap_thread *thread);

/* In a forked child: frees all memory; no stripe has an owner. */
void wndl_rt_heap_threads_forget(void);

/* Whether any thread freed this address just before. */
bool wndl_rt_heap_threads_freed(uint64_t address);

/* Whether any thread's memory is in [start, end). */
bool wndl_rt_heap_threads_are_in(uintptr_t start, uintptr_t end);

/* Calls `visit` with the stack of each thread whose stack is known. */
void wndl_rt_heap_threads_each(
    void (*visit)(void *context, const struct wndl_stack_range *stack),
    void *context);

/*
 * Walks the stack. `regs` are the registers after the call of the allocation
 * function. *hash receives the stack's hash. False: the stack cannot be read.
 */
bool wndl_rt_heap_walk(struct wndl_rt_heap_thread *thread,
    const struct wndl_regs *regs, struct wndl_resumed *stack,
    struct wndl_rt_stack_hash *hash);

/* The same, and finds the leaf's node. Returns 0, or why there is none. */
enum wndl_loss wndl_rt_heap_stack(struct wndl_rt_heap_thread *thread,
    const struct wndl_regs *regs, uint32_t *node);

#endif
