/* SPDX-License-Identifier: MIT */
/*
 * cache: the rules of pcs seen before, and the compiling of those that were
 * not. One for any number of threads, and for signal handlers that interrupt
 * them within it: nobody ever waits.
 */
#ifndef WNDL_UNWIND_FAST_CACHE_H
#define WNDL_UNWIND_FAST_CACHE_H

#include "base/hash.h"
#include "unwind/core/arch.h"
#include "unwind/core/rule.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * 256 KiB: 16,384 entries in sets of 16, and a second set for each key. With
 * 10,000 live pcs 4 % of them have a home set that is over-full; with the
 * second set, one or two of them are turned out. A set is searched from the
 * key's own slot on, a cache line at a time: the first look is mostly the last.
 */
enum {
    WNDL_CACHE_LOG2 = 14,
    WNDL_CACHE_ENTRIES = 1 << WNDL_CACHE_LOG2,
    WNDL_CACHE_WAYS = 16,
};

/*
 * The rule of one pc, four entries to a cache line. The pc is a return
 * address, or an interrupted pc + 1: in both cases the rule is that of pc - 1,
 * so one entry serves both. `key` is the pc, with the generation above the
 * pc's bits where a word has room for both.
 *
 * A slot is free (key 0, rule 0), claimed (a rule of no kind, not 0), or full.
 * Who turns a rule into a claim owns the slot until it has written, in this
 * order, the key, the count of changes, and the rule. Who reads a key and then
 * its rule has
 *   a rule of no kind: the slot is free or claimed; or
 *   the rule of that key; or
 *   the rule of a key that came after it: then the count of changes rose
 *   between the two readings.
 * A rule is written and read in one piece: what a wrong one does is bounded.
 */
struct wndl_entry {
    _Atomic uint32_t links; /* what its callers had: the last one's below */
    _Atomic int32_t rule;   /* wndl_rule_bits() */
    _Atomic uintptr_t key;
#if __SIZEOF_POINTER__ == 4
    _Atomic uint32_t generation;
#endif
};

_Static_assert(sizeof(struct wndl_entry) == 16, "four to a cache line");

/*
 * Invariants: the second set has a key of this generation only if the first
 * has been full of such keys since; each half of `links` is the link to some
 * entry. Zeroed memory is an empty cache.
 */
struct wndl_unwinder {
    _Alignas(64) struct wndl_entry slots[WNDL_CACHE_ENTRIES];
    struct wndl_entry outside; /* free for ever: stands for what is not kept */
    _Atomic uint32_t changes;  /* slots filled, or filled anew */
    _Atomic uint32_t generation; /* of the rules that still hold */
};

/* What wndl_entry_is() compares with: for the whole of a walk. */
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

/* An aligned word is read in one piece, and what depends on it after it; an
 * atomic load would not be folded into the comparison. */
typedef uintptr_t __attribute__((may_alias)) wndl_key;

/* The key of a free slot is some impossible pc's: its rule has no kind. */
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

/* As it is stored: wndl_rule_of_bits() takes it apart. */
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

/* To `outside` too, which lies behind the slots: in eights of a byte offset,
 * of which one half of a word has room for all. */
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

/* Where to look in the `look`-th place, look < WNDL_CACHE_WAYS. */
static inline uint32_t wndl_cache_place(uint32_t home, uint32_t look)
{
    return home ^ look * (uint32_t)sizeof(struct wndl_entry);
}

/* What a look-up comes to. */
struct wndl_found {
    struct wndl_entry *entry; /* `outside` when the rule is not kept */
    struct wndl_rule rule;
    bool kept; /* by this look-up: counted among the changes */
};

/* The rule of `pc`, compiled now if it is new. Any thread, any handler. */
struct wndl_found wndl_cache_find(
    struct wndl_unwinder *u, uint64_t pc, wndl_generation generation);

/* Where it mostly is, without a call; NULL when it is not there. */
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
