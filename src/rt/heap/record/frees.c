/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/frees.h"

#include "base/stacktree.h"
#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/growth.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/record/copy_growth.h"
#include "rt/heap/record/operators.h"
#include "rt/heap/record/untracked.h"
#include "rt/tags/core/current.h"

/* ---- counting */

/* With 47 bits: the clock may have wrapped. Else the time may be a mark. */
uint64_t wndl_rt_free_lifetime(const struct wndl_rt_block *block)
{
    const uint64_t mask = (UINT64_C(1) << 47) - 1;
    if (block->time == WNDL_RT_UNTIMED || !wndl_rt_heap->cumulative)
        return 0;
    uint64_t more = block->time & WNDL_RT_TIMED_FOR_MORE;
    uint64_t lifetime = (wndl_rt_heap_now() - (block->time - more)) & mask;
    return more != 0 ? lifetime * WNDL_HEAP_TIMED_EVERY : lifetime;
}

static inline uint64_t usable_of(struct wndl_heap_count *c, uint32_t site)
{
    uint32_t known = __atomic_load_n(&c->usable, __ATOMIC_RELAXED);
    if (WNDL_RT_LIKELY(known != 0))
        return known;
    uint64_t usable = wndl_rt_heap->sites.sites[site].usable - 1;
    if (usable <= UINT32_MAX)
        __atomic_store_n(&c->usable, (uint32_t)usable, __ATOMIC_RELAXED);
    return usable;
}

static inline void count_free_in_site(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *block)
{
    uint32_t site = block->site;
    struct wndl_heap_count *c = &t->stripe.counts[site];
    wndl_rt_stripe_add_free(&t->stripe, usable_of(c, site));
    wndl_rt_site_add_free(&t->stripe, site, wndl_rt_free_lifetime(block));
    if (t->last == block->address)
        wndl_rt_stripe_add(&t->stripe, &c->temporary, 1);
    if (wndl_rt_heap->cumulative && !t->stripe.shared)
        wndl_rt_count_together(
            &c->freed_after, &c->freed_after_times, t->free_site);
    t->free_site = site + 1;
}

void wndl_rt_free_count(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_free *freed)
{
    uint64_t address = freed->block.address;
    if (wndl_rt_free_is_inherited(freed))
        atomic_fetch_add(&wndl_rt_heap->shared->inherited, 1);
    else if (freed->kind == WNDL_RT_FREE_IN_NONE)
        wndl_rt_stripe_add_free(&t->stripe, freed->usable);
    else if (freed->kind == WNDL_RT_FREE_IN_SITE)
        count_free_in_site(t, &freed->block);
    if (t->last == address) {
        wndl_rt_stripe_add(&t->stripe, &t->stripe.totals->temporary, 1);
        t->last = 0;
    }
    if (freed->kind == WNDL_RT_FREE_UNKNOWN)
        return; /* there was nothing to free */
    atomic_store_explicit(&t->freed_last[t->freed_next++ % WNDL_RT_FREED],
        address, memory_order_relaxed);
}

/* ---- removal from the table */

/* Whether a block in no site may have been untracked. */
static bool may_be_known(const void *block)
{
    return wndl_rt_heap->sample_below != 0 || wndl_rt_untracked_at(block) != 0;
}

static enum wndl_rt_found take_sampled(void *block, struct wndl_rt_free *d)
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
    struct wndl_rt_free *freed)
{
    enum wndl_rt_found found = take_sampled(block, freed);
    if (found == WNDL_RT_BLOCK_FOUND) {
        freed->kind = WNDL_RT_FREE_IN_SITE;
        return;
    }
    freed->block.address = (uintptr_t)block;
    if (wndl_rt_untracked_take_early(block))
        freed->kind = WNDL_RT_FREE_EARLY;
    else if (found == WNDL_RT_BLOCK_ABSENT && !may_be_known(block))
        freed->kind = WNDL_RT_FREE_UNKNOWN;
    else {
        freed->kind = WNDL_RT_FREE_IN_NONE;
        freed->usable = wndl_rt_usable(real, block);
    }
}

/* Only the tags of sampled blocks are known. */
uint32_t wndl_rt_heap_tag_of(const struct wndl_rt_free *freed)
{
    if (freed->kind == WNDL_RT_FREE_IN_SITE &&
        !wndl_rt_free_is_inherited(freed))
        return wndl_rt_heap->sites.sites[freed->block.site].tag;
    return wndl_rt_tag_current();
}

void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_free *freed)
{
    struct wndl_rt_block before;
    if (freed->kind == WNDL_RT_FREE_EARLY)
        wndl_rt_heap_set_inconsistent();
    if (freed->kind != WNDL_RT_FREE_IN_SITE)
        return;
    if (wndl_rt_blocks_put(&freed->block, &before) == WNDL_RT_BLOCK_LOST)
        wndl_rt_free_count(t, freed);
    else if (wndl_rt_heap->sample_below != 0)
        wndl_rt_blocks_mark(freed->block.address);
}

/* ---- frees */

static bool take_others(
    uint64_t address, enum wndl_rt_other allocator, struct wndl_rt_free *freed)
{
    void *key = wndl_rt_other_key((const void *)(uintptr_t)address, allocator);
    *freed = (struct wndl_rt_free){.kind = WNDL_RT_FREE_IN_SITE};
    return take_sampled(key, freed) == WNDL_RT_BLOCK_FOUND;
}

/* Ends a block that another allocator than `malloc`'s made. */
static bool end_others(struct wndl_rt_heap_thread *t, uint64_t address,
    enum wndl_rt_other allocator, struct wndl_rt_wrong *wrong)
{
    struct wndl_rt_free freed;
    if (!take_others(address, allocator, &freed))
        return false;
    wndl_rt_free_count(t, &freed);
    wrong->kind = WNDL_HEAP_WRONG_OTHER;
    wrong->taken_at = wndl_rt_heap->sites.sites[freed.block.site].node;
    wrong->taken_by = allocator == WNDL_RT_LIBCS ? WNDL_HEAP_WHOSE_LIBC
                                                 : WNDL_HEAP_WHOSE_REPORTED;
    wrong->freed_by = WNDL_HEAP_WHOSE_MALLOC;
    return true;
}

/* False: it is not known what is wrong. */
static bool find_wrong(struct wndl_rt_heap_thread *t, uint64_t address,
    struct wndl_rt_wrong *wrong)
{
    if (wndl_rt_heap->sample_below != 0)
        return false;
    if (end_others(t, address, WNDL_RT_LIBCS, wrong))
        return true;
    if (wndl_rt_heap_inconsistent)
        return false;
    if (end_others(t, address, WNDL_RT_REPORTED, wrong))
        return true;
    wrong->kind = wndl_rt_heap_threads_freed(address) ? WNDL_HEAP_WRONG_TWICE
                                                      : WNDL_HEAP_WRONG_FOREIGN;
    return true;
}

static WNDL_RT_NOINLINE void record_wrong(struct wndl_rt_heap_thread *t,
    struct wndl_rt_wrong *wrong, const struct wndl_regs *regs)
{
    if (wndl_rt_heap_stack(t, regs, &wrong->node) == 0 && wrong->node != 0)
        wndl_rt_heap_wrong(wndl_rt_heap->shared, wrong);
}

/* Ends a block that is in no table. */
static WNDL_RT_NOINLINE void end_unknown(struct wndl_rt_heap_thread *t,
    uint64_t address, const struct wndl_regs *regs)
{
    struct wndl_rt_wrong wrong = {.address = address};
    if (find_wrong(t, address, &wrong))
        record_wrong(t, &wrong, regs);
}

/* The first address of the stack; 0: none. */
static uint64_t start_of_stack(uint32_t node)
{
    const uint64_t addresses = (UINT64_C(1) << WNDL_KEY_INTERRUPTED_SHIFT) - 1;
    return node == 0 ? 0
                     : wndl_stacktree_node(wndl_rt.tree, node)->key & addresses;
}

/* A block of operator new that ends by free(), or the other way round. */
static WNDL_RT_NOINLINE void check_operators(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs)
{
    struct wndl_rt_wrong wrong = {.kind = WNDL_HEAP_WRONG_OTHER,
        .address = freed->block.address,
        .taken_at = wndl_rt_heap->sites.sites[freed->block.site].node};
    const uint64_t start = start_of_stack(wrong.taken_at);
    if (start == 0 || wndl_rt_free_is_inherited(freed))
        return;
    wrong.freed_by = wndl_rt_operators_freed(regs->ip);
    if (wrong.freed_by == WNDL_HEAP_WHOSE_UNKNOWN)
        return;
    wrong.taken_by = wndl_rt_operators_took(start);
    if (wrong.taken_by != wrong.freed_by)
        record_wrong(t, &wrong, regs);
}

/*
 * Whether that is checked: for the first few blocks of a site that the stripe
 * frees. Code that frees them wrongly does so for each.
 */
static inline bool checks_operators(
    const struct wndl_rt_heap_thread *t, const struct wndl_rt_free *freed)
{
    enum { CHECKED = 8 };
    return wndl_rt_operators_known && freed->kind == WNDL_RT_FREE_IN_SITE &&
           wndl_rt_heap->sample_below == 0 &&
           __atomic_load_n(&t->stripe.counts[freed->block.site].frees,
               __ATOMIC_RELAXED) < CHECKED;
}

void wndl_rt_heap_freed(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs)
{
    if (checks_operators(t, freed))
        check_operators(t, freed, regs);
    if (freed->kind == WNDL_RT_FREE_UNKNOWN)
        end_unknown(t, freed->block.address, regs);
    else if (freed->kind == WNDL_RT_FREE_IN_SITE && t->last != 0 &&
             t->last != freed->block.address &&
             !wndl_rt_free_is_inherited(freed))
        wndl_rt_heap_look_for_copy(t, &freed->block);
    wndl_rt_free_count(t, freed);
}

/* All inline, because its parts are shorter than calls of them. */
__attribute__((flatten)) void wndl_rt_heap_end_any(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *real,
    void *block, const struct wndl_regs *regs)
{
    struct wndl_rt_free freed;
    wndl_rt_heap_take(real, block, &freed);
    wndl_rt_heap_freed(t, &freed, regs);
}

void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_free *freed, const struct wndl_regs *regs)
{
    if (freed->kind == WNDL_RT_FREE_UNKNOWN)
        end_unknown(t, freed->block.address, regs);
    wndl_rt_stripe_add(&t->stripe, &t->stripe.totals->reallocs, 1);
    wndl_rt_free_count(t, freed);
}

/* A block of malloc's that is reported as a pool's. */
struct malloced {
    bool is_found;
    uint32_t site;
};

static void see(void *context, struct wndl_rt_block *block)
{
    struct malloced *m = context;
    m->is_found = block->generation == wndl_rt_heap_generation;
    m->site = block->site;
}

void wndl_rt_heap_reported_free(struct wndl_rt_heap_thread *t,
    const void *block, const struct wndl_regs *regs)
{
    uint64_t address = (uintptr_t)block;
    uint64_t key = (uintptr_t)wndl_rt_other_key(block, WNDL_RT_REPORTED);
    struct wndl_rt_wrong wrong = {
        .kind = WNDL_HEAP_WRONG_TWICE, .address = address};
    struct wndl_rt_free freed;
    struct malloced malloced = {0};
    if (take_others(address, WNDL_RT_REPORTED, &freed)) {
        wndl_rt_free_count(t, &freed);
        return;
    }
    if (wndl_rt_heap->sample_below != 0 || wndl_rt_untracked_at(block) != 0)
        return;
    (void)wndl_rt_blocks_hold(address, see, &malloced);
    if (!malloced.is_found)
        return;
    if (!wndl_rt_heap_threads_freed(key)) {
        wrong.kind = WNDL_HEAP_WRONG_OTHER;
        wrong.taken_at = wndl_rt_heap->sites.sites[malloced.site].node;
        wrong.taken_by = WNDL_HEAP_WHOSE_MALLOC;
        wrong.freed_by = WNDL_HEAP_WHOSE_REPORTED;
    }
    record_wrong(t, &wrong, regs);
}
