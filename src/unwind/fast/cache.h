/* SPDX-License-Identifier: MIT */
/*
 * cache: the rules of pcs seen before, and the compiling of new ones. It serves
 * any number of threads, and signal handlers that interrupt them within it.
 * Nobody ever waits.
 */
#ifndef WNDL_UNWIND_FAST_CACHE_H
#define WNDL_UNWIND_FAST_CACHE_H

#include "base/hash.h"
#include "unwind/core/arch.h"
#include "unwind/core/rule.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * The cache takes 256 KiB: 16,384 entries in sets of 16, and a second set for
 * each key. With 10,000 live pcs 4 % of them have an over-full home set; with
 * the second set, one or two of them are displaced. A set is searched from the
 * key's own slot on, a cache line at a time, so the first read mostly succeeds.
 */
enum {
    WNDL_CACHE_LOG2 = 14,
    WNDL_CACHE_ENTRIES = 1 << WNDL_CACHE_LOG2,
    WNDL_CACHE_WAYS = 16,
};

/*
 * The rule of one pc, four entries to a cache line. The pc is a return address,
 * or an interrupted pc + 1. In both cases the rule is that of pc - 1, so one
 * entry serves both. `key` is the pc, with the generation above the pc's bits
 * where a word has room for both.
 *
 * A slot is free (key 0, rule 0), claimed (a rule of no kind, not 0), or full.
 * Whoever turns a rule into a claim owns the slot until he has written, in this
 * order, the key, the count of changes, and the rule. Whoever reads a key and
 * then its rule gets
 * - a rule of no kind: the slot is free or claimed; or
 * - the rule of that key; or
 * - the rule of a later key: then the count of changes has risen between the
 *   two reads.
 *
 * A rule is written and read in one piece, so the damage of a wrong one is
 * bounded.
 */
struct wndl_entry {
    _Atomic uint16_t last, before; /* links to the last two callers */
    _Atomic int32_t rule;          /* wndl_rule_bits() */
    _Atomic uintptr_t key;
#if __SIZEOF_POINTER__ == 4
    _Atomic uint32_t generation;
#endif
};

_Static_assert(sizeof(struct wndl_entry) == 16, "four to a cache line");

/*
 * The cache. Invariants: the second set has a key of this generation only if
 * the first has been full of such keys since; `last` and `before` are links to
 * some entry. Zeroed memory is an empty cache.
 */
struct wndl_unwinder {
    _Alignas(64) struct wndl_entry slots[WNDL_CACHE_ENTRIES];
    struct wndl_entry outside;   /* always free: stands for a rule that is not
                                * kept */
    _Atomic uint32_t changes;    /* slots filled, or filled anew */
    _Atomic uint32_t generation; /* of the valid rules */
};

/* The value that wndl_entry_is() compares with, for a whole walk. */
typedef uintptr_t wndl_generation;

enum { WNDL_PC_BITS = 48 };

static inline wndl_generation wndl_cache_generation(
    const struct wndl_unwinder *u)
{
    uint32_t n = atomic_load_explicit(&u->generation, memory_order_acquire);
#if __SIZEOF_POINTER__ == 4
    return n;
#else
    return (uint64_t)n << WNDL_PC_BITS;
#endif
}

/*
 * An aligned word is read in one piece, and dependent reads come after it. The
 * compiler would not fold an atomic load into the comparison.
 */
typedef uintptr_t __attribute__((may_alias)) wndl_key;

/* A free slot's key is an impossible pc: its rule has no kind. */
__attribute__((no_sanitize("thread"))) static inline bool wndl_entry_is(
    const struct wndl_entry *e, uint64_t pc, wndl_generation generation)
{
    const wndl_key *key = (const wndl_key *)(const void *)&e->key;
#if __SIZEOF_POINTER__ == 4
    return *key == pc && atomic_load_explicit(&e->generation,
                             memory_order_acquire) == generation;
#else
    return *key == pc + generation;
#endif
}

/* The rule as it is stored. wndl_rule_of_bits() unpacks it. */
static inline int32_t wndl_entry_rule(const struct wndl_entry *e)
{
    return atomic_load_explicit(&e->rule, memory_order_acquire);
}

static inline uint32_t wndl_cache_changes(const struct wndl_unwinder *u)
{
    return atomic_load_explicit(&u->changes, memory_order_acquire);
}

/* The byte offset in `slots` where the search for `pc` starts. */
static inline uint32_t wndl_cache_home(uint64_t pc)
{
    const uint64_t index = (pc * WNDL_GOLDEN) >> (64 - WNDL_CACHE_LOG2);
    return (uint32_t)(index * sizeof(struct wndl_entry));
}

static inline struct wndl_entry *wndl_cache_at(
    struct wndl_unwinder *u, uintptr_t offset)
{
    return (struct wndl_entry *)(void *)((uint8_t *)u->slots + offset);
}

/*
 * A link to an entry, or to `outside`, which is after the slots. It is the byte
 * offset divided by eight, so that all links fit half a word.
 */
enum { WNDL_CACHE_LINK = 8 };

_Static_assert(
    sizeof(struct wndl_entry) * WNDL_CACHE_ENTRIES / WNDL_CACHE_LINK <=
        UINT16_MAX,
    "half a word has no room for a link");

static inline uint32_t wndl_cache_link(
    const struct wndl_unwinder *u, const struct wndl_entry *entry)
{
    return (uint32_t)((const uint8_t *)entry - (const uint8_t *)u->slots) /
           WNDL_CACHE_LINK;
}

static inline struct wndl_entry *wndl_cache_linked(
    struct wndl_unwinder *u, uintptr_t link)
{
    return wndl_cache_at(u, link * WNDL_CACHE_LINK);
}

/* The slot to read in attempt `look` < WNDL_CACHE_WAYS. */
static inline uint32_t wndl_cache_place(uint32_t home, uint32_t look)
{
    return home ^ look * (uint32_t)sizeof(struct wndl_entry);
}

/* The result of a look-up. */
struct wndl_found {
    struct wndl_entry *entry; /* `outside` if the rule is not kept */
    struct wndl_rule rule;
    bool kept; /* this look-up added it, and counted a change */
};

/* The rule of `pc`, compiled now if it is new. Any thread, any handler. */
struct wndl_found wndl_cache_find(
    struct wndl_unwinder *u, uint64_t pc, wndl_generation generation);

/*
 * Replaces the rule of `pc`, of the kind NO_FDE, by one that says more, if the
 * pc is still there.
 */
void wndl_cache_refine(struct wndl_unwinder *u, uint64_t pc,
    wndl_generation generation, struct wndl_rule rule);

/* Reads its usual slot, without a call. NULL if it is not there. */
static inline struct wndl_entry *wndl_cache_peek(struct wndl_unwinder *u,
    uint64_t pc, wndl_generation generation, int32_t *rule_bits)
{
    uint32_t changes = wndl_cache_changes(u);
    struct wndl_entry *e = wndl_cache_at(u, wndl_cache_home(pc));
    if (!wndl_entry_is(e, pc, generation))
        return NULL;
    *rule_bits = wndl_entry_rule(e);
    bool is_rule = wndl_rule_of_bits(*rule_bits).kind != WNDL_ENTRY_EMPTY;
    return is_rule && wndl_cache_changes(u) == changes ? e : NULL;
}

#endif
