/* SPDX-License-Identifier: MIT */
/*
 * record: records each call of an allocation function. A call is recorded
 * between enter() and leave(), within which the allocator's own function is
 * called, too. Calls that this makes in turn, and allocations by signal
 * handlers meanwhile, are untracked.
 *
 *   enter, allocate, allocated, leave
 *   enter, end, free, leave
 *   enter, take, realloc, replaced, allocated, regrown, leave
 *   enter, take, realloc, keep, leave      if realloc failed
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
    const struct wndl_regs *regs; /* after the call */
    uint32_t tag;                 /* 0: none */
    bool is_reported;             /* by the program, for its own allocator */
};

/* Records an allocation, sampled or not. */
void wndl_rt_heap_allocated(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_alloc *alloc);

/* Records an allocation as a sampled one. */
void wndl_rt_heap_allocated_sampled(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_alloc *alloc);

struct wndl_rt_free {
    enum {
        WNDL_RT_FREE_IN_SITE, /* `block` has it */
        WNDL_RT_FREE_IN_NONE, /* only in totals */
        WNDL_RT_FREE_EARLY,   /* not in totals: from before the recording */
        WNDL_RT_FREE_UNKNOWN, /* of no known block */
    } kind;
    struct wndl_rt_block block;
    size_t usable; /* IN_NONE: bytes */
};

/* Whether the block is of a process before the fork. */
static inline bool wndl_rt_free_is_inherited(const struct wndl_rt_free *freed)
{
    const struct wndl_rt_block *block = &freed->block;
    if (freed->kind == WNDL_RT_FREE_IN_SITE)
        return block->generation != wndl_rt_heap_generation;
    return freed->kind == WNDL_RT_FREE_IN_NONE &&
           wndl_rt_untracked_is_inherited((void *)(uintptr_t)block->address);
}

/* Removes a block, before its memory can become another block. */
void wndl_rt_heap_take(const struct wndl_rt_allocator *real, void *block,
    struct wndl_rt_free *freed);

/* The tag for the block that realloc() makes of it. */
uint32_t wndl_rt_heap_tag_of(const struct wndl_rt_free *freed);

/* Puts a block back, which lives on. */
void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_free *freed);

/*
 * Records a block that is about to be freed. An unknown one is recorded as a
 * wrong free. Else a larger copy of it, which the thread has just made, is
 * searched.
 */
void wndl_rt_heap_freed(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs);

/*
 * Takes the block and counts its free; for most blocks, unsampled.h does that
 * inline.
 */
void wndl_rt_heap_end_any(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_allocator *real, void *block,
    const struct wndl_regs *regs);

/* Records that realloc() has made another block of it, or none. */
void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs);

/* Records that the thread's last block has replaced a smaller one. */
void wndl_rt_heap_regrown(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_free *smaller);

/*
 * Blocks of other allocators than the hooked one have keys with these bits,
 * which no address of the hooked one has. A block that a program reports may
 * begin where one of the hooked allocator does.
 */
enum wndl_rt_other { WNDL_RT_REPORTED = 1, WNDL_RT_LIBCS = 3 };

static inline void *wndl_rt_other_key(
    const void *block, enum wndl_rt_other allocator)
{
    return (void *)((uintptr_t)block | allocator);
}

/*
 * Records the end of a block, reported by the program. If the block is the
 * hooked allocator's, that is recorded as a wrong free, and nothing else.
 */
void wndl_rt_heap_reported_free(struct wndl_rt_heap_thread *thread,
    const void *block, const struct wndl_regs *regs);

#endif
