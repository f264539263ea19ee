/* SPDX-License-Identifier: MIT */
/*
 * record: what becomes of each call of an allocation function. A call is
 * recorded between enter() and leave(), in which the allocator's own function
 * is called, too: what that calls in turn, and what signal handlers allocate
 * meanwhile, is untracked.
 *
 *   enter, allocate, allocated, leave
 *   enter, end, free, leave
 *   enter, take, realloc, replaced, allocated, regrown, leave
 *   enter, take, realloc, keep, leave where that has failed
 */
#ifndef WNDL_RT_HEAP_RECORD_RECORD_H
#define WNDL_RT_HEAP_RECORD_RECORD_H

#include "rt/heap/count/blocks.h"
#include "rt/heap/count/enter.h"
#include "rt/heap/count/state.h"
#include "rt/heap/record/allocator.h"
#include "rt/heap/record/untracked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/unwind.h>

struct wndl_rt_alloc {
    void *block;
    size_t requested, usable;     /* bytes */
    const struct wndl_regs *regs; /* behind the call */
    bool is_reported; /* by the program, of an allocator of its own */
};

/* Samples it or not. */
void wndl_rt_heap_allocated(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_alloc *alloc);

/* Samples it. */
void wndl_rt_heap_allocated_sampled(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_alloc *alloc);

struct wndl_rt_free {
    enum {
        WNDL_RT_FREE_IN_SITE, /* `block` says */
        WNDL_RT_FREE_IN_NONE, /* only totals know of it */
        WNDL_RT_FREE_EARLY,   /* they do not either: it is from before */
        WNDL_RT_FREE_UNKNOWN, /* nor does anybody */
    } kind;
    struct wndl_rt_block block;
    size_t usable; /* IN_NONE: bytes */
};

/* The block is of a process before the fork. */
static inline bool wndl_rt_free_is_inherited(const struct wndl_rt_free *freed)
{
    const struct wndl_rt_block *block = &freed->block;
    if (freed->kind == WNDL_RT_FREE_IN_SITE)
        return block->generation != wndl_rt_heap_generation;
    return freed->kind == WNDL_RT_FREE_IN_NONE &&
           wndl_rt_untracked_is_inherited((void *)(uintptr_t)block->address);
}

/* Before the block's memory is anybody else's. */
void wndl_rt_heap_take(const struct wndl_rt_allocator *real, void *block,
    struct wndl_rt_free *freed);

/* It lives on. */
void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_free *freed);

/*
 * It is to be freed. If it is unknown, that is recorded as a wrong free; else a
 * larger copy of it is looked for, which the thread has just made.
 */
void wndl_rt_heap_freed(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs);

/* take() and freed(). For most blocks unsampled.h does that in line. */
void wndl_rt_heap_end_any(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_allocator *real, void *block,
    const struct wndl_regs *regs);

/* It has been given to realloc(), which has made another one of it, or none. */
void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs);

/* The thread's last block has taken a smaller one's place. */
void wndl_rt_heap_regrown(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_free *smaller);

/*
 * Blocks of other allocators than that behind the hooks are known by addresses
 * with these bits, which none of that one's has: what a program reports may
 * begin where a block of that one does.
 */
enum wndl_rt_other { WNDL_RT_REPORTED = 1, WNDL_RT_LIBCS = 3 };

static inline void *wndl_rt_other_key(
    const void *block, enum wndl_rt_other allocator)
{
    return (void *)((uintptr_t)block | allocator);
}

/*
 * The program has reported the end of a block. If that is the hooked
 * allocator's, it is recorded as a wrong free, and nothing else.
 */
void wndl_rt_heap_reported_free(struct wndl_rt_heap_thread *thread,
    const void *block, const struct wndl_regs *regs);

#endif
