/* SPDX-License-Identifier: MIT */
#include "rt/heap_pairs.h"

#include <stdbool.h>

static uint64_t hash_of(const struct wndl_heap_pair *p)
{
    uint64_t h = (p->requested + ((uint64_t)p->node << 32 | p->usable)) *
                 UINT64_C(0x9e3779b97f4a7c15);
    return (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

static bool is_same(
    const struct wndl_heap_pair *a, const struct wndl_heap_pair *b)
{
    return a->node == b->node && a->requested == b->requested &&
           a->usable == b->usable && a->end == b->end;
}

/* The look before the add keeps `count` from running away when full. */
static uint32_t add(
    const struct wndl_rt_pairs *table, const struct wndl_heap_pair *wanted)
{
    if (atomic_load_explicit(table->count, memory_order_relaxed) >= table->max)
        return 0;
    uint32_t at =
        atomic_fetch_add_explicit(table->count, 1, memory_order_relaxed);
    if (at >= table->max)
        return 0;
    struct wndl_heap_pair *pair = &table->pairs[at];
    pair->requested = wanted->requested;
    pair->node = wanted->node;
    pair->end = wanted->end;
    __atomic_store_n(&pair->usable, wanted->usable, __ATOMIC_RELEASE);
    return at + 1;
}

/*
 * Two that add the same at once make two pairs, of which one is in the index:
 * the other one is never counted. More than half of the index is free.
 */
uint32_t wndl_rt_pairs_find(
    const struct wndl_rt_pairs *table, const struct wndl_heap_pair *wanted)
{
    const uint64_t slots = 2 * (uint64_t)table->max;
    uint64_t i = ((hash_of(wanted) >> 32) * slots) >> 32;
    uint32_t mine = 0;
    for (;; i = i + 1 == slots ? 0 : i + 1) {
        uint32_t here =
            atomic_load_explicit(&table->index[i], memory_order_acquire);
        if (here == 0 && mine == 0)
            mine = add(table, wanted);
        if (here == 0 && mine == 0)
            return 0;
        if (here == 0 &&
            atomic_compare_exchange_strong(&table->index[i], &here, mine))
            return mine;
        if (is_same(&table->pairs[here - 1], wanted))
            return here;
    }
}
