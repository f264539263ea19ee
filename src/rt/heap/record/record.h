/* SPDX-License-Identifier: MIT */
/*
 * heap_record: what becomes of each call of an allocation function. A call is
 * recorded between enter() and leave(), in which the allocator's own function
 * is called, too: what that calls in turn, and what signal handlers allocate
 * meanwhile, passes by.
 *
 *   enter, allocate, born, leave
 *   enter, end, free, leave
 *   enter, take, realloc, replaced, born, regrown, leave
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

struct wndl_rt_birth {
    void *block;
    size_t requested, usable;     /* bytes */
    const struct wndl_regs *regs; /* behind the call */
    bool is_told; /* by the program, of an allocator of its own */
};

/* Takes it or not. */
void wndl_rt_heap_born(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_birth *birth);

/* Takes it. */
void wndl_rt_heap_born_taken(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_birth *birth);

struct wndl_rt_death {
    enum {
        WNDL_RT_DEATH_IN_PAIR, /* `block` says */
        WNDL_RT_DEATH_IN_NONE, /* only totals know of it */
        WNDL_RT_DEATH_EARLY,   /* they do not either: it is from before */
        WNDL_RT_DEATH_UNKNOWN, /* nor does anybody */
    } kind;
    struct wndl_rt_block block;
    size_t usable; /* IN_NONE: bytes */
};

/* The block is of a process before the fork. */
static inline bool wndl_rt_death_is_inherited(const struct wndl_rt_death *death)
{
    const struct wndl_rt_block *block = &death->block;
    if (death->kind == WNDL_RT_DEATH_IN_PAIR)
        return block->generation != wndl_rt_heap_generation;
    return death->kind == WNDL_RT_DEATH_IN_NONE &&
           wndl_rt_passed_is_inherited((void *)(uintptr_t)block->address);
}

/* Before the block's memory is anybody else's. */
void wndl_rt_heap_take(const struct wndl_rt_allocator *real, void *block,
    struct wndl_rt_death *death);

/* It lives on. */
void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_death *death);

/*
 * It is to be freed. If it is known to nobody, that is told; else it is looked
 * whether the thread has just made a larger copy of it.
 */
void wndl_rt_heap_freed(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_death *death, const struct wndl_regs *regs);

/* Takes it and tells that it is to be freed. As heap_untaken.h has it, but for
 * the blocks that there are most of. */
void wndl_rt_heap_end_any(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_allocator *real, void *block,
    const struct wndl_regs *regs);

/* It has been given to realloc(), which has made another one of it, or none. */
void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_death *death, const struct wndl_regs *regs);

/* The thread's last born block has taken a smaller one's place. */
void wndl_rt_heap_regrown(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_death *smaller);

/*
 * Blocks of other allocators than that behind the hooks are known by addresses
 * with these bits, which none of that one's has: what a program tells of may
 * begin where a block of that one does.
 */
enum wndl_rt_other { WNDL_RT_TOLD = 1, WNDL_RT_LIBCS = 3 };

static inline void *wndl_rt_other_key(
    const void *block, enum wndl_rt_other allocator)
{
    return (void *)((uintptr_t)block | allocator);
}

/*
 * The end of a block that was told of. What is the hooked allocator's is let
 * be, and that is told.
 */
void wndl_rt_heap_told_end(struct wndl_rt_heap_thread *thread,
    const void *block, const struct wndl_regs *regs);

#endif
