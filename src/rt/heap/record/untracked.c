/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/untracked.h"

#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/enter.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/stripes.h"

enum { UNTRACKED = 64 * 1024, OWN = 256 * 1024 };

/* Blocks from before the recording. */
static _Atomic uintptr_t early[WNDL_RT_EARLY];
static uint32_t early_sizes[WNDL_RT_EARLY];
static _Atomic uint32_t early_count;
static uintptr_t high; /* of these */
static bool settled;

/* By place: enum wndl_rt_untracked. */
static _Atomic uint8_t untracked[UNTRACKED];

/* By place: the generation that made a block there. */
static _Atomic uint8_t own[OWN];

static _Atomic uint8_t *untracked_of(uintptr_t block)
{
    return &untracked[(block >> 4) % UNTRACKED];
}

void wndl_rt_untracked_note(const void *block, enum wndl_rt_untracked what)
{
    atomic_fetch_or_explicit(
        untracked_of((uintptr_t)block), (uint8_t)what, memory_order_relaxed);
}

uint8_t wndl_rt_untracked_at(const void *block)
{
    return atomic_load_explicit(
        untracked_of((uintptr_t)block), memory_order_relaxed);
}

void wndl_rt_untracked_note_own(const void *block)
{
    atomic_store_explicit(&own[((uintptr_t)block >> 4) % OWN],
        wndl_rt_heap_generation, memory_order_relaxed);
}

bool wndl_rt_untracked_is_own(const void *block)
{
    return atomic_load_explicit(&own[((uintptr_t)block >> 4) % OWN],
               memory_order_relaxed) == wndl_rt_heap_generation;
}

static void add_early(void *block, size_t usable)
{
    uint32_t at = atomic_fetch_add(&early_count, 1);
    if ((uintptr_t)block > high)
        high = (uintptr_t)block;
    if (at >= WNDL_RT_EARLY) {
        wndl_rt_heap_set_inconsistent();
        return;
    }
    early_sizes[at] = (uint32_t)usable;
    atomic_store(&early[at], (uintptr_t)block);
    wndl_rt_blocks_mark((uintptr_t)block);
}

static bool forget_early(void *block)
{
    uint32_t count = atomic_load_explicit(&early_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count && i < WNDL_RT_EARLY; i++) {
        uintptr_t expected = (uintptr_t)block;
        if (atomic_load_explicit(&early[i], memory_order_relaxed) == expected)
            return atomic_compare_exchange_strong(&early[i], &expected, 0);
    }
    return false;
}

/* Most other blocks are above them. */
bool wndl_rt_untracked_take_early(void *block)
{
    if (wndl_rt_heap->shared == NULL || (uintptr_t)block > high ||
        !forget_early(block))
        return false;
    wndl_rt_blocks_unmark((uintptr_t)block);
    return true;
}

void wndl_rt_untracked_alloc(void *block, size_t requested, size_t usable)
{
    if (block == NULL)
        return;
    if (wndl_rt_heap->shared == NULL) {
        if (!settled)
            add_early(block, usable);
        return;
    }
    struct wndl_rt_stripe stripe = wndl_rt_stripe_shared(wndl_rt_heap->shared);
    wndl_rt_stripe_miss(&stripe, wndl_rt_heap_is_busy()
                                     ? WNDL_HEAP_MISS_NESTED
                                     : WNDL_HEAP_MISS_NO_THREAD);
    wndl_rt_untracked_note(block, WNDL_RT_UNTRACKED_ALLOC);
    wndl_rt_untracked_note_made(block);
    wndl_rt_stripe_add_alloc(
        &stripe, &(struct wndl_rt_sizes){requested, usable});
}

void wndl_rt_untracked_free(const struct wndl_rt_allocator *real, void *block)
{
    if (block == NULL || wndl_rt_untracked_take_early(block) ||
        wndl_rt_heap->shared == NULL)
        return;
    struct wndl_rt_stripe stripe = wndl_rt_stripe_shared(wndl_rt_heap->shared);
    wndl_rt_untracked_note(block, WNDL_RT_UNTRACKED_FREE);
    if (wndl_rt_untracked_is_inherited(block))
        atomic_fetch_add(&wndl_rt_heap->shared->inherited, 1);
    else
        wndl_rt_stripe_add_free(&stripe, wndl_rt_usable(real, block));
}

void wndl_rt_untracked_settle(void)
{
    settled = true;
}

size_t wndl_rt_untracked_roots(struct wndl_rt_root roots[WNDL_RT_EARLY])
{
    size_t count = 0;
    for (uint32_t i = 0; i < WNDL_RT_EARLY && i < atomic_load(&early_count);
         i++)
        roots[count++] = (struct wndl_rt_root){early[i], early_sizes[i]};
    return count;
}
