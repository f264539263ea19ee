/* SPDX-License-Identifier: MIT */
/*
 * unsampled: blocks that are not sampled, which are most of them if sampling is
 * random. They are only counted. That is inline, because it is shorter than a
 * call. For a thread that is busy.
 *
 * Blocks below wndl_rt_heap->quick_below are plain: sizes are before them,
 * nothing is inherited, and no check is needed before a call. The hooks then
 * save only the registers they must.
 */
#ifndef WNDL_RT_HEAP_RECORD_UNSAMPLED_H
#define WNDL_RT_HEAP_RECORD_UNSAMPLED_H

#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/record/record.h"
#include "rt/heap/record/untracked.h"

/*
 * Draws with probability size / sample_below, which is 2^32 at most, by the
 * upper half of Knuth's MMIX generator.
 */
static inline bool wndl_rt_heap_draws(
    struct wndl_rt_heap_thread *t, uint64_t size, uint64_t sample_below)
{
    t->random = t->random * UINT64_C(6364136223846793005) +
                UINT64_C(1442695040888963407);
    return ((t->random >> 32) * sample_below) >> 32 < (size == 0 ? 1 : size);
}

static inline bool wndl_rt_heap_samples(
    struct wndl_rt_heap_thread *t, uint64_t size)
{
    const uint64_t sample_below = wndl_rt_heap->sample_below;
    return size >= sample_below || wndl_rt_heap_draws(t, size, sample_below);
}

/*
 * Enters like wndl_rt_heap_enter(), if `size` is below that of plain blocks. An
 * empty page of state has no `quick_below`, and so gives NULL.
 */
static inline struct wndl_rt_heap_thread *wndl_rt_heap_enter_quickly(
    uint64_t size)
{
    if (size >= wndl_rt_heap->quick_below)
        return NULL;
    struct wndl_rt_heap_here *here = &wndl_rt_heap_here;
    struct wndl_rt_heap_thread *self = here->self;
    if (!WNDL_RT_LIKELY(self != NULL && !here->busy))
        return NULL;
    here->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    return self;
}

/* `site` is the block's site plus one, 0 for none. */
static inline void wndl_rt_heap_count_alloc(struct wndl_rt_heap_thread *t,
    const void *block, struct wndl_rt_sizes sizes, uint32_t site)
{
    wndl_rt_stripe_add_alloc(&t->stripe, &sizes);
    wndl_rt_untracked_note_made(block);
    t->last = (uintptr_t)block;
    t->last_size = sizes.requested;
    t->alloc_site = site;
}

/* Counts the free of a block that was allocated during the recording. */
static inline __attribute__((always_inline)) void wndl_rt_heap_count_free(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *real,
    void *block)
{
    if (wndl_rt_untracked_is_inherited(block)) {
        atomic_fetch_add(&wndl_rt_heap->shared->inherited, 1);
        return;
    }
    wndl_rt_stripe_add_free(&t->stripe, wndl_rt_usable(real, block));
    if (t->last == (uintptr_t)block) {
        wndl_rt_stripe_add(&t->stripe, &t->stripe.totals->temporary, 1);
        t->last = 0;
    }
}

/* The same for a plain block, if the stripe only counts it. */
static inline void wndl_rt_heap_count_plain_alloc(struct wndl_rt_heap_thread *t,
    const void *block, struct wndl_rt_sizes sizes)
{
    wndl_rt_stripe_count_alloc(t->stripe.totals, false, &sizes);
    t->last = (uintptr_t)block;
    t->last_size = sizes.requested;
    t->alloc_site = 0;
}

static inline void wndl_rt_heap_count_plain_free(
    struct wndl_rt_heap_thread *t, const void *block, size_t usable)
{
    struct wndl_heap_stripe *totals = t->stripe.totals;
    wndl_rt_stripe_count_free(totals, false, usable);
    if (t->last == (uintptr_t)block) {
        wndl_rt_add(false, &totals->temporary, 1);
        t->last = 0;
    }
}

/* Records that the block will be freed. */
static inline __attribute__((always_inline)) void wndl_rt_heap_end(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *real,
    void *block, const struct wndl_regs *regs)
{
    if (wndl_rt_heap->sample_below != 0 &&
        WNDL_RT_LIKELY(!wndl_rt_blocks_maybe((uintptr_t)block)))
        wndl_rt_heap_count_free(t, real, block);
    else
        wndl_rt_heap_end_any(t, real, block, regs);
}

#endif
