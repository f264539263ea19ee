/* SPDX-License-Identifier: MIT */
/* allocs: allocations (record.h). */
#include "base/hash.h"
#include "rt/core/rt.h"
#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/record/frees.h"
#include "rt/heap/record/unsampled.h"
#include "rt/heap/record/untracked.h"

static struct wndl_rt_recent stand_in(const struct wndl_rt_alloc *alloc,
    struct wndl_rt_stack_hash stack, uint32_t end)
{
    uint64_t sizes =
        (alloc->requested * WNDL_GOLDEN + alloc->usable) * WNDL_GOLDEN + end +
        (alloc->tag << 16);
    return (struct wndl_rt_recent){
        .a = (stack.a ^ sizes) * UINT64_C(0xd6e8feb86659fd93),
        .b = (uint32_t)(((stack.b + sizes) * WNDL_GOLDEN) >> 32),
    };
}

/*
 * The site plus one, or 0, which is counted. `loss` is the reason for a missing
 * node.
 */
static uint32_t find_site(struct wndl_rt_heap_thread *t,
    const struct wndl_heap_site *site, enum wndl_loss loss)
{
    if (loss != 0 && loss != WNDL_LOSS_NO_STACK) {
        wndl_rt_stripe_miss(&t->stripe, WNDL_HEAP_MISS_TREE_FULL);
        return 0;
    }
    uint32_t number = wndl_rt_sites_find(&wndl_rt_heap->sites, site);
    if (number == 0)
        wndl_rt_stripe_miss(&t->stripe, WNDL_HEAP_MISS_SITES_FULL);
    return number;
}

/* The newest site is this thread's. The next new one follows it. */
static void prefault_next(
    struct wndl_rt_heap_thread *t, uint32_t node, uint32_t number)
{
    const struct wndl_rt_sites *sites = &wndl_rt_heap->sites;
    if (atomic_load_explicit(sites->count, memory_order_relaxed) != number)
        return;
    wndl_rt_prefault_of(&t->prefault.nodes,
        wndl_stacktree_node(wndl_rt.tree, 0),
        node * sizeof(struct wndl_stacknode));
    wndl_rt_prefault_of(
        &t->prefault.sites, sites->sites, number * sizeof *sites->sites);
    wndl_rt_prefault_of(&t->prefault.counts, t->stripe.counts,
        number * sizeof *t->stripe.counts);
}

static WNDL_RT_NOINLINE uint32_t learn_site(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_alloc *alloc, const struct wndl_resumed *stack,
    struct wndl_rt_recent *recent)
{
    struct wndl_heap_site site = {
        .requested = alloc->requested,
        .usable = alloc->usable + 1,
        .end = (uint16_t)stack->walk.end,
        .tag = (uint16_t)alloc->tag,
    };
    enum wndl_loss loss = wndl_rt_tree_add(&t->nodes.known, stack, &site.node);
    recent->number = find_site(t, &site, loss);
    if (recent->number == 0)
        return 0;
    wndl_rt_recent_keep(t->recent, recent);
    prefault_next(t, site.node, recent->number);
    return recent->number;
}

/* The block's site plus one, or 0, which is counted. */
static uint32_t site_of(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_alloc *alloc)
{
    struct wndl_resumed stack;
    struct wndl_rt_stack_hash hash;
    if (!wndl_rt_heap_walk(t, alloc->regs, &stack, &hash)) {
        const struct wndl_heap_site site = {
            .requested = alloc->requested,
            .usable = alloc->usable + 1,
            .end = WNDL_END_NO_RULE,
            .tag = (uint16_t)alloc->tag,
        };
        return find_site(t, &site, WNDL_LOSS_NO_STACK);
    }
    struct wndl_rt_recent wanted = stand_in(alloc, hash, stack.walk.end);
    uint32_t number = wndl_rt_recent_find(t->recent, &wanted);
    return WNDL_RT_LIKELY(number != 0) ? number
                                       : learn_site(t, alloc, &stack, &wanted);
}

/*
 * Ends a block whose free was missed, or was untracked and is in the totals
 * already.
 */
static void end_missed(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *block)
{
    struct wndl_rt_free freed = {.kind = WNDL_RT_FREE_IN_SITE, .block = *block};
    uint8_t untracked =
        wndl_rt_untracked_at((const void *)(uintptr_t)block->address);
    if ((untracked & WNDL_RT_UNTRACKED_FREE) != 0 &&
        !wndl_rt_free_is_inherited(&freed))
        wndl_rt_site_add_free(
            &t->stripe, block->site, wndl_rt_free_lifetime(block));
    else
        wndl_rt_free_count(t, &freed);
}

/*
 * All blocks are measured until so many have ended. That counts those that
 * ended, not those that live on, so that enough are measured.
 */
static inline uint64_t time_of_alloc(
    const struct wndl_rt_heap_thread *t, uint32_t site)
{
    if (!wndl_rt_heap->cumulative)
        return WNDL_RT_UNTIMED;
    const struct wndl_heap_count *c = &t->stripe.counts[site];
    if (__atomic_load_n(&c->frees, __ATOMIC_RELAXED) < WNDL_HEAP_TIMED_ALL)
        return wndl_rt_heap_now();
    uint64_t order = __atomic_load_n(&c->allocs, __ATOMIC_RELAXED);
    if (WNDL_RT_LIKELY(!wndl_rt_site_times(order)))
        return WNDL_RT_UNTIMED;
    return wndl_rt_heap_now() | WNDL_RT_TIMED_FOR_MORE;
}

/* False: there was no room for it. */
static bool remember(
    struct wndl_rt_heap_thread *t, const void *address, uint32_t site)
{
    const struct wndl_rt_block block = {
        .address = (uintptr_t)address,
        .time = time_of_alloc(t, site),
        .site = site,
        .generation = wndl_rt_heap_generation,
    };
    struct wndl_rt_block before;
    enum wndl_rt_found found = wndl_rt_blocks_put(&block, &before);
    if (found == WNDL_RT_BLOCK_LOST) {
        wndl_rt_stripe_miss(&t->stripe, WNDL_HEAP_MISS_MEMORY);
        return false;
    }
    if (wndl_rt_heap->sample_below != 0)
        wndl_rt_blocks_mark((uintptr_t)address);
    if (found == WNDL_RT_BLOCK_FOUND)
        end_missed(t, &before);
    return true;
}

static void count_in_site(struct wndl_rt_heap_thread *t, uint32_t site)
{
    struct wndl_heap_count *c = &t->stripe.counts[site];
    wndl_rt_site_add_alloc(&t->stripe, site);
    if (wndl_rt_heap->cumulative && !t->stripe.shared)
        wndl_rt_count_together(
            &c->born_after, &c->born_after_times, t->alloc_site);
}

void wndl_rt_heap_allocated_sampled(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_alloc *alloc)
{
    const struct wndl_rt_sizes sizes = {alloc->requested, alloc->usable};
    wndl_rt_blocks_expect((uintptr_t)alloc->block);
    uint32_t number = site_of(t, alloc);
    if (number != 0)
        __builtin_prefetch(&t->stripe.counts[number - 1], 1);
    if (number != 0 && !remember(t, alloc->block, number - 1))
        number = 0;
    if (number != 0)
        count_in_site(t, number - 1);
    else
        wndl_rt_untracked_note(alloc->block, WNDL_RT_UNTRACKED_ALLOC);
    wndl_rt_heap_count_alloc(t, alloc->block, sizes, number);
}

void wndl_rt_heap_allocated(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_alloc *alloc)
{
    const struct wndl_rt_sizes sizes = {alloc->requested, alloc->usable};
    if (wndl_rt_heap_samples(t, alloc->requested))
        wndl_rt_heap_allocated_sampled(t, alloc);
    else if (!alloc->is_reported)
        wndl_rt_heap_count_alloc(t, alloc->block, sizes, 0);
}
