/* SPDX-License-Identifier: MIT */
/* The births of blocks: heap_record.h. */
#include "rt/core/rt.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/record/frees.h"
#include "rt/heap/record/unsampled.h"
#include "rt/heap/record/untracked.h"

static struct wndl_rt_recent stand_in(const struct wndl_rt_birth *birth,
    struct wndl_rt_stack_hash stack, uint32_t end)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t sizes = (birth->requested * golden + birth->usable) * golden + end;
    return (struct wndl_rt_recent){
        .a = (stack.a ^ sizes) * UINT64_C(0xd6e8feb86659fd93),
        .b = (uint32_t)(((stack.b + sizes) * golden) >> 32),
    };
}

/* The pair plus one, or 0, which is counted. `loss`: why there is no node. */
static uint32_t find_pair(struct wndl_rt_heap_thread *t,
    const struct wndl_heap_pair *pair, enum wndl_loss loss)
{
    if (loss != 0 && loss != WNDL_LOSS_NO_STACK) {
        wndl_rt_lane_miss(&t->lane, WNDL_HEAP_MISS_TREE_FULL);
        return 0;
    }
    uint32_t number = wndl_rt_pairs_find(&wndl_rt_heap->pairs, pair);
    if (number == 0)
        wndl_rt_lane_miss(&t->lane, WNDL_HEAP_MISS_PAIRS_FULL);
    return number;
}

/* The newest pair is this thread's: what it makes next comes behind it. */
static void look_ahead(
    struct wndl_rt_heap_thread *t, uint32_t node, uint32_t number)
{
    const struct wndl_rt_pairs *pairs = &wndl_rt_heap->pairs;
    if (atomic_load_explicit(pairs->count, memory_order_relaxed) != number)
        return;
    wndl_rt_ahead_of(&t->ahead.nodes, wndl_stacktree_node(wndl_rt.tree, 0),
        node * sizeof(struct wndl_stacknode));
    wndl_rt_ahead_of(
        &t->ahead.pairs, pairs->pairs, number * sizeof *pairs->pairs);
    wndl_rt_ahead_of(
        &t->ahead.counts, t->lane.counts, number * sizeof *t->lane.counts);
}

static WNDL_RT_NOINLINE uint32_t learn_pair(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_birth *birth, const struct wndl_resumed *stack,
    struct wndl_rt_recent *recent)
{
    struct wndl_heap_pair pair = {
        .requested = birth->requested,
        .usable = birth->usable + 1,
        .end = stack->walk.end,
    };
    enum wndl_loss loss = wndl_rt_tree_add(&t->nodes.known, stack, &pair.node);
    recent->number = find_pair(t, &pair, loss);
    if (recent->number == 0)
        return 0;
    wndl_rt_recent_keep(t->recent, recent);
    look_ahead(t, pair.node, recent->number);
    return recent->number;
}

/* The block's pair plus one, or 0, which is counted. */
static uint32_t pair_of(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_birth *birth)
{
    struct wndl_resumed stack;
    struct wndl_rt_stack_hash hash;
    if (!wndl_rt_heap_walk(t, birth->regs, &stack, &hash)) {
        const struct wndl_heap_pair pair = {
            .requested = birth->requested,
            .usable = birth->usable + 1,
            .end = WNDL_END_NO_RULE,
        };
        return find_pair(t, &pair, WNDL_LOSS_NO_STACK);
    }
    struct wndl_rt_recent wanted = stand_in(birth, hash, stack.walk.end);
    uint32_t number = wndl_rt_recent_find(t->recent, &wanted);
    return WNDL_RT_LIKELY(number != 0) ? number
                                       : learn_pair(t, birth, &stack, &wanted);
}

/* Its death was not seen, or passed by and is in the totals already. */
static void end_missed(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *block)
{
    struct wndl_rt_death death = {
        .kind = WNDL_RT_DEATH_IN_PAIR, .block = *block};
    uint8_t passed = wndl_rt_passed_at((const void *)(uintptr_t)block->address);
    if ((passed & WNDL_RT_PASSED_DEATH) != 0 &&
        !wndl_rt_death_is_inherited(&death))
        wndl_rt_pair_died(&t->lane, block->pair, wndl_rt_death_lifetime(block));
    else
        wndl_rt_death_count(t, &death);
}

/* All, until so many have ended: of those that end, not of those that live on,
 * enough are to be timed. */
static inline uint64_t time_of_birth(
    const struct wndl_rt_heap_thread *t, uint32_t pair)
{
    if (!wndl_rt_heap->cumulative)
        return WNDL_RT_UNTIMED;
    const struct wndl_heap_count *c = &t->lane.counts[pair];
    if (__atomic_load_n(&c->frees, __ATOMIC_RELAXED) < WNDL_HEAP_TIMED_ALL)
        return wndl_rt_heap_now();
    uint64_t order = __atomic_load_n(&c->allocs, __ATOMIC_RELAXED);
    if (WNDL_RT_LIKELY(!wndl_rt_pair_times(order)))
        return WNDL_RT_UNTIMED;
    return wndl_rt_heap_now() | WNDL_RT_TIMED_FOR_MORE;
}

/* False: it could not be remembered. */
static bool remember(
    struct wndl_rt_heap_thread *t, const void *address, uint32_t pair)
{
    const struct wndl_rt_block block = {
        .address = (uintptr_t)address,
        .time = time_of_birth(t, pair),
        .pair = pair,
        .generation = wndl_rt_heap_generation,
    };
    struct wndl_rt_block before;
    enum wndl_rt_found found = wndl_rt_blocks_put(&block, &before);
    if (found == WNDL_RT_BLOCK_LOST) {
        wndl_rt_lane_miss(&t->lane, WNDL_HEAP_MISS_MEMORY);
        return false;
    }
    if (wndl_rt_heap->sample_below != 0)
        wndl_rt_blocks_mark((uintptr_t)address);
    if (found == WNDL_RT_BLOCK_FOUND)
        end_missed(t, &before);
    return true;
}

static void count_born(struct wndl_rt_heap_thread *t, uint32_t pair)
{
    struct wndl_heap_count *c = &t->lane.counts[pair];
    wndl_rt_pair_born(&t->lane, pair);
    if (wndl_rt_heap->cumulative && !t->lane.shared)
        wndl_rt_count_together(&c->born_after, &c->born_after_times, t->born);
}

void wndl_rt_heap_born_taken(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_birth *birth)
{
    const struct wndl_rt_sizes sizes = {birth->requested, birth->usable};
    wndl_rt_blocks_expect((uintptr_t)birth->block);
    uint32_t number = pair_of(t, birth);
    if (number != 0)
        __builtin_prefetch(&t->lane.counts[number - 1], 1);
    if (number != 0 && !remember(t, birth->block, number - 1))
        number = 0;
    if (number != 0)
        count_born(t, number - 1);
    else
        wndl_rt_passed_note(birth->block, WNDL_RT_PASSED_BIRTH);
    wndl_rt_heap_count_birth(t, birth->block, sizes, number);
}

void wndl_rt_heap_born(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_birth *birth)
{
    const struct wndl_rt_sizes sizes = {birth->requested, birth->usable};
    if (wndl_rt_heap_takes(t, birth->requested))
        wndl_rt_heap_born_taken(t, birth);
    else if (!birth->is_told)
        wndl_rt_heap_count_birth(t, birth->block, sizes, 0);
}
