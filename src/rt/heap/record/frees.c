/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/frees.h"

#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/growth.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/record/copy_growth.h"
#include "rt/heap/record/untracked.h"

/* ---- counted */

/* Of 47 bits: the clock may have gone past their end. */
uint64_t wndl_rt_death_lifetime(const struct wndl_rt_block *block)
{
    const uint64_t mask = (UINT64_C(1) << 47) - 1;
    if (block->time == WNDL_RT_UNTIMED)
        return 0;
    uint64_t more = block->time & WNDL_RT_TIMED_FOR_MORE;
    uint64_t lifetime = (wndl_rt_heap_now() - (block->time - more)) & mask;
    return more != 0 ? lifetime * WNDL_HEAP_TIMED_EVERY : lifetime;
}

static inline uint64_t usable_of(struct wndl_heap_count *c, uint32_t pair)
{
    uint32_t known = __atomic_load_n(&c->usable, __ATOMIC_RELAXED);
    if (WNDL_RT_LIKELY(known != 0))
        return known;
    uint64_t usable = wndl_rt_heap->pairs.pairs[pair].usable - 1;
    if (usable <= UINT32_MAX)
        __atomic_store_n(&c->usable, (uint32_t)usable, __ATOMIC_RELAXED);
    return usable;
}

static inline void count_death_in_pair(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *block)
{
    uint32_t pair = block->pair;
    struct wndl_heap_count *c = &t->lane.counts[pair];
    wndl_rt_lane_died(&t->lane, usable_of(c, pair));
    wndl_rt_pair_died(&t->lane, pair, wndl_rt_death_lifetime(block));
    if (t->last == block->address)
        wndl_rt_lane_add(&t->lane, &c->temporary, 1);
    if (wndl_rt_heap->cumulative && !t->lane.shared)
        wndl_rt_count_together(
            &c->freed_after, &c->freed_after_times, t->freed);
    t->freed = pair + 1;
}

void wndl_rt_death_count(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_death *death)
{
    uint64_t address = death->block.address;
    if (wndl_rt_death_is_inherited(death))
        atomic_fetch_add(&wndl_rt_heap->shared->inherited, 1);
    else if (death->kind == WNDL_RT_DEATH_IN_NONE)
        wndl_rt_lane_died(&t->lane, death->usable);
    else if (death->kind == WNDL_RT_DEATH_IN_PAIR)
        count_death_in_pair(t, &death->block);
    if (t->last == address) {
        wndl_rt_lane_add(&t->lane, &t->lane.totals->temporary, 1);
        t->last = 0;
    }
    if (death->kind == WNDL_RT_DEATH_UNKNOWN)
        return; /* there was nothing to free */
    atomic_store_explicit(&t->freed_last[t->freed_next++ % WNDL_RT_FREED],
        address, memory_order_relaxed);
}

/* ---- taken */

/* Whether a block that is in no pair may be one that passed by. */
static bool may_be_known(const void *block)
{
    return wndl_rt_heap->sample_below != 0 || wndl_rt_passed_at(block) != 0;
}

static enum wndl_rt_found take_from_pair(void *block, struct wndl_rt_death *d)
{
    uintptr_t address = (uintptr_t)block;
    bool sampled = wndl_rt_heap->sample_below != 0;
    if (sampled && !wndl_rt_blocks_maybe(address))
        return WNDL_RT_BLOCK_ABSENT;
    enum wndl_rt_found found = wndl_rt_blocks_take(address, &d->block);
    if (sampled && found == WNDL_RT_BLOCK_FOUND)
        wndl_rt_blocks_unmark(address);
    return found;
}

void wndl_rt_heap_take(const struct wndl_rt_allocator *real, void *block,
    struct wndl_rt_death *death)
{
    enum wndl_rt_found found = take_from_pair(block, death);
    if (found == WNDL_RT_BLOCK_FOUND) {
        death->kind = WNDL_RT_DEATH_IN_PAIR;
        return;
    }
    death->block.address = (uintptr_t)block;
    if (wndl_rt_passed_take_early(block))
        death->kind = WNDL_RT_DEATH_EARLY;
    else if (found == WNDL_RT_BLOCK_ABSENT && !may_be_known(block))
        death->kind = WNDL_RT_DEATH_UNKNOWN;
    else {
        death->kind = WNDL_RT_DEATH_IN_NONE;
        death->usable = wndl_rt_usable(real, block);
    }
}

void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_death *death)
{
    struct wndl_rt_block before;
    if (death->kind == WNDL_RT_DEATH_EARLY)
        wndl_rt_heap_doubt();
    if (death->kind != WNDL_RT_DEATH_IN_PAIR)
        return;
    if (wndl_rt_blocks_put(&death->block, &before) == WNDL_RT_BLOCK_LOST)
        wndl_rt_death_count(t, death);
    else if (wndl_rt_heap->sample_below != 0)
        wndl_rt_blocks_mark(death->block.address);
}

/* ---- freed */

static bool end_others(struct wndl_rt_heap_thread *t, uint64_t address,
    enum wndl_rt_other allocator)
{
    struct wndl_rt_death death = {.kind = WNDL_RT_DEATH_IN_PAIR};
    void *key = wndl_rt_other_key((const void *)(uintptr_t)address, allocator);
    if (take_from_pair(key, &death) != WNDL_RT_BLOCK_FOUND)
        return false;
    wndl_rt_death_count(t, &death);
    return true;
}

/* 0: nobody knows. */
static unsigned kind_of_wrong(struct wndl_rt_heap_thread *t, uint64_t address)
{
    if (wndl_rt_heap->sample_below != 0)
        return 0;
    if (end_others(t, address, WNDL_RT_LIBCS))
        return WNDL_HEAP_WRONG_OTHER;
    if (wndl_rt_heap_unsure)
        return 0;
    if (end_others(t, address, WNDL_RT_TOLD))
        return WNDL_HEAP_WRONG_OTHER;
    return wndl_rt_heap_threads_freed(address) ? WNDL_HEAP_WRONG_TWICE
                                               : WNDL_HEAP_WRONG_FOREIGN;
}

static WNDL_RT_NOINLINE void tell_wrong(struct wndl_rt_heap_thread *t,
    unsigned kind, uint64_t address, const struct wndl_regs *regs)
{
    uint32_t node = 0;
    if (kind != 0 && wndl_rt_heap_stack(t, regs, &node) == 0 && node != 0)
        wndl_rt_heap_wrong(wndl_rt_heap->shared, node, kind, address);
}

/* Nobody knows it. */
static WNDL_RT_NOINLINE void end_unknown(struct wndl_rt_heap_thread *t,
    uint64_t address, const struct wndl_regs *regs)
{
    tell_wrong(t, kind_of_wrong(t, address), address, regs);
}

void wndl_rt_heap_freed(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_death *death, const struct wndl_regs *regs)
{
    if (death->kind == WNDL_RT_DEATH_UNKNOWN)
        end_unknown(t, death->block.address, regs);
    else if (death->kind == WNDL_RT_DEATH_IN_PAIR && t->last != 0 &&
             t->last != death->block.address &&
             !wndl_rt_death_is_inherited(death))
        wndl_rt_heap_look_for_copy(t, &death->block);
    wndl_rt_death_count(t, death);
}

/* In one piece: its parts are shorter than the calls of them. */
__attribute__((flatten)) void wndl_rt_heap_end_any(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *real,
    void *block, const struct wndl_regs *regs)
{
    struct wndl_rt_death death;
    wndl_rt_heap_take(real, block, &death);
    wndl_rt_heap_freed(t, &death, regs);
}

void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_death *death, const struct wndl_regs *regs)
{
    if (death->kind == WNDL_RT_DEATH_UNKNOWN)
        end_unknown(t, death->block.address, regs);
    wndl_rt_lane_add(&t->lane, &t->lane.totals->reallocs, 1);
    wndl_rt_death_count(t, death);
}

static void see(void *context, struct wndl_rt_block *block)
{
    *(bool *)context = block->generation == wndl_rt_heap_generation;
}

void wndl_rt_heap_told_end(struct wndl_rt_heap_thread *t, const void *block,
    const struct wndl_regs *regs)
{
    uint64_t address = (uintptr_t)block;
    uint64_t key = (uintptr_t)wndl_rt_other_key(block, WNDL_RT_TOLD);
    bool is_malloced = false;
    if (end_others(t, address, WNDL_RT_TOLD) ||
        wndl_rt_heap->sample_below != 0 || wndl_rt_passed_at(block) != 0)
        return;
    (void)wndl_rt_blocks_hold(address, see, &is_malloced);
    if (is_malloced)
        tell_wrong(t,
            wndl_rt_heap_threads_freed(key) ? WNDL_HEAP_WRONG_TWICE
                                            : WNDL_HEAP_WRONG_OTHER,
            address, regs);
}
