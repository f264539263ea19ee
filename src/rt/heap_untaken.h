/* SPDX-License-Identifier: MIT */
/*
 * heap_untaken: blocks that are not taken, as most are not where that goes by
 * chance. They are only counted: in line, for no function that it takes would
 * be as short as its call. For a thread that is at work.
 */
#ifndef WNDL_RT_HEAP_UNTAKEN_H
#define WNDL_RT_HEAP_UNTAKEN_H

#include "rt/heap_passed.h"
#include "rt/heap_record.h"
#include "rt/heap_thread.h"

/* With probability size / sample_below. */
static inline bool wndl_rt_heap_takes(
    struct wndl_rt_heap_thread *t, uint64_t size)
{
    const uint64_t sample_below = wndl_rt_heap->sample_below;
    if (size >= sample_below)
        return true;
    uint64_t x = t->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    t->random = x;
    return ((x >> 32) * sample_below) >> 32 < (size == 0 ? 1 : size);
}

/* `pair` is the block's plus one, 0 for none. */
static inline void wndl_rt_heap_count_birth(struct wndl_rt_heap_thread *t,
    const void *block, struct wndl_rt_sizes sizes, uint32_t pair)
{
    wndl_rt_lane_born(&t->lane, &sizes);
    wndl_rt_passed_made(block);
    t->last = (uintptr_t)block;
    t->last_size = sizes.requested;
    t->born = pair;
}

/* Of a block that is not from before. */
static inline __attribute__((always_inline)) void wndl_rt_heap_count_death(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *real,
    void *block)
{
    if (wndl_rt_passed_is_inherited(block)) {
        atomic_fetch_add(&wndl_rt_heap->shared->inherited, 1);
        return;
    }
    wndl_rt_lane_died(&t->lane, real->usable(block));
    if (t->last == (uintptr_t)block) {
        wndl_rt_lane_add(&t->lane, &t->lane.totals->temporary, 1);
        t->last = 0;
    }
}

/* The block is to be freed. */
static inline __attribute__((always_inline)) void wndl_rt_heap_end(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *real,
    void *block, const struct wndl_regs *regs)
{
    if (wndl_rt_heap->sample_below != 0 &&
        WNDL_RT_LIKELY(!wndl_rt_blocks_maybe((uintptr_t)block)))
        wndl_rt_heap_count_death(t, real, block);
    else
        wndl_rt_heap_end_any(t, real, block, regs);
}

#endif
