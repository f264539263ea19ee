/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/sites.h"

#include "base/hash.h"
#include "base/slotlines.h"

#include <stdbool.h>

enum {
    NODES = 32,       /* that share a line: few of them are leaves */
    NUMBER_BITS = 22, /* bits of a slot: site + 1; the rest is a tag of the
                       * hash */
};

#define NUMBERS ((1u << NUMBER_BITS) - 1)

_Static_assert(
    WNDL_HEAP_SITES < 1 << NUMBER_BITS && WNDL_HEAP_SITES_32 < 1 << NUMBER_BITS,
    "a slot has no room for a number");

static uint64_t hash_of(const struct wndl_heap_site *p)
{
    uint64_t h = (p->requested + ((uint64_t)p->node << 32 | p->usable) +
                     (uint64_t)p->tag * UINT64_C(0xd6e8feb86659fd93)) *
                 WNDL_GOLDEN;
    return (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

static bool is_same(
    const struct wndl_heap_site *a, const struct wndl_heap_site *b)
{
    return a->node == b->node && a->requested == b->requested &&
           a->usable == b->usable && a->end == b->end && a->tag == b->tag;
}

/* The check before the add keeps `count` from growing when full. */
static uint32_t add(
    const struct wndl_rt_sites *table, const struct wndl_heap_site *wanted)
{
    if (atomic_load_explicit(table->count, memory_order_relaxed) >= table->max)
        return 0;
    uint32_t at =
        atomic_fetch_add_explicit(table->count, 1, memory_order_relaxed);
    if (at >= table->max)
        return 0;
    struct wndl_heap_site *site = &table->sites[at];
    site->requested = wanted->requested;
    site->node = wanted->node;
    site->end = wanted->end;
    site->tag = wanted->tag;
    __atomic_store_n(&site->usable, wanted->usable, __ATOMIC_RELEASE);
    return at + 1;
}

/*
 * A search. `tag` is at its place in a slot. Two threads that add the same site
 * at the same time make two, of which one is in the index; the other one,
 * `mine`, is never counted.
 */
struct search {
    const struct wndl_rt_sites *table;
    const struct wndl_heap_site *wanted;
    uint32_t tag, mine, number;
};

enum outcome { OTHER, FOUND, FULL };

/* Checks a slot that is free or has the tag, and takes it if it is free. */
static enum outcome look(struct search *s, _Atomic uint32_t *slot)
{
    uint32_t here = atomic_load_explicit(slot, memory_order_acquire);
    if (here == 0 && s->mine == 0)
        s->mine = add(s->table, s->wanted);
    if (here == 0 && s->mine == 0)
        return FULL;
    if (here == 0 &&
        atomic_compare_exchange_strong(slot, &here, s->mine | s->tag))
        here = s->mine | s->tag;
    s->number = here & NUMBERS;
    return is_same(&s->table->sites[s->number - 1], s->wanted) ? FOUND : OTHER;
}

static inline enum outcome look_at(struct search *s, uint64_t slot)
{
    _Atomic uint32_t *at = &s->table->index[slot];
    uint32_t here = atomic_load_explicit(at, memory_order_relaxed);
    return here == 0 || ((here ^ s->tag) & ~NUMBERS) == 0 ? look(s, at) : OTHER;
}

static enum outcome look_in_line(struct search *s, uint64_t line)
{
    uint64_t slot = line * WNDL_SLOTLINE_SLOTS;
    enum outcome outcome = OTHER;
    for (int i = 0; i < WNDL_SLOTLINE_SLOTS && outcome == OTHER; i++)
        outcome = look_at(s, slot++);
    return outcome;
}

/*
 * Sites of a few consecutive nodes share a line of the index. Those that find
 * no place near (base/slotlines.h) are anywhere, by hash. More than half of the
 * index is free.
 */
uint32_t wndl_rt_sites_find(
    const struct wndl_rt_sites *table, const struct wndl_heap_site *wanted)
{
    const uint64_t slots = 2 * (uint64_t)table->max, hash = hash_of(wanted);
    const size_t lines = (size_t)(slots / WNDL_SLOTLINE_SLOTS);
    const size_t own = lines == 0 ? 0 : wanted->node / NODES % lines;
    const unsigned looks = lines == 0 ? 0 : WNDL_SLOTLINE_LOOKS;
    struct search s = {table, wanted, (uint32_t)hash & ~NUMBERS, 0, 0};
    enum outcome outcome = OTHER;
    for (unsigned n = 0; n < looks && outcome == OTHER; n++) {
        size_t line = wndl_slotline(own, lines, (uint32_t)(hash >> 32), n);
        outcome = look_in_line(&s, line);
    }
    uint64_t i = ((hash >> 32) * slots) >> 32;
    for (; outcome == OTHER; i = i + 1 == slots ? 0 : i + 1)
        outcome = look_at(&s, i);
    return outcome == FOUND ? s.number : 0;
}
