/* SPDX-License-Identifier: MIT */
#include "rt/heap_pairs.h"

#include <stdbool.h>

enum {
    SLOTS = 16, /* of a line: 64 bytes */
    NODES = 3,  /* that share a line */
};

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

enum outcome { OTHER, FOUND, FULL };

/*
 * Looks at one slot, and takes it if it is free. Two that add the same at once
 * make two pairs, of which one is in the index: the other one, *mine, is never
 * counted.
 */
static enum outcome look(const struct wndl_rt_pairs *table, uint64_t slot,
    const struct wndl_heap_pair *wanted, uint32_t *mine, uint32_t *number)
{
    _Atomic uint32_t *index = &table->index[slot];
    uint32_t here = atomic_load_explicit(index, memory_order_acquire);
    if (here == 0 && *mine == 0)
        *mine = add(table, wanted);
    if (here == 0 && *mine == 0)
        return FULL;
    if (here == 0 && atomic_compare_exchange_strong(index, &here, *mine))
        here = *mine;
    *number = here;
    return is_same(&table->pairs[here - 1], wanted) ? FOUND : OTHER;
}

/*
 * Those of a few nodes that follow each other are in one line of the index, so
 * that few pairs touch little memory. What finds its line full is anywhere,
 * by hash. Nothing is ever removed: nothing of a line with a free slot is
 * elsewhere. More than half of the index is free.
 */
uint32_t wndl_rt_pairs_find(
    const struct wndl_rt_pairs *table, const struct wndl_heap_pair *wanted)
{
    const uint64_t slots = 2 * (uint64_t)table->max;
    uint32_t mine = 0, number = 0;
    enum outcome outcome = OTHER;
    uint64_t i =
        slots < SLOTS ? 0 : wanted->node / NODES % (slots / SLOTS) * SLOTS;
    for (uint64_t end = i + SLOTS; i < end && i < slots && outcome == OTHER;
         i++)
        outcome = look(table, i, wanted, &mine, &number);
    i = ((hash_of(wanted) >> 32) * slots) >> 32;
    for (; outcome == OTHER; i = i + 1 == slots ? 0 : i + 1)
        outcome = look(table, i, wanted, &mine, &number);
    return outcome == FOUND ? number : 0;
}
