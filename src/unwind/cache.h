/* SPDX-License-Identifier: MIT */
/*
 * cache: the rules of pcs seen before, and the compiling of those that were
 * not. One per thread; not shared, not locked.
 */
#ifndef WNDL_UNWIND_CACHE_H
#define WNDL_UNWIND_CACHE_H

#include "unwind/rule.h"

#include <stddef.h>

/*
 * 16,384 entries in sets of 16: with 10,000 live pcs, 4 % of them are in
 * over-full sets. A set is searched from the key's home slot on, a cache line
 * at a time, so that the first look is mostly the last.
 */
enum {
    WNDL_CACHE_LOG2 = 14,
    WNDL_CACHE_ENTRIES = 1 << WNDL_CACHE_LOG2,
    WNDL_CACHE_WAYS = 16,
};

/*
 * Invariants: a key is where the first look at it found a free slot, or its
 * set is full; every `next` is the byte offset of some entry. The key that is
 * found there, and nothing else, says whether it is the one. Free slots and
 * no_code have the key 0.
 */
struct wndl_unwinder {
    _Alignas(64) struct wndl_entry slots[WNDL_CACHE_ENTRIES];
    struct wndl_entry no_code; /* the rule of what cannot be a pc */
    uint32_t victim;           /* round robin in full sets */
};

/* The byte offset in `slots` where the search for `key` starts. */
static inline uint32_t wndl_cache_home(uint64_t key)
{
    const uint64_t golden_ratio = 0x9e3779b97f4a7c15u;
    const uint64_t index = (key * golden_ratio) >> (64 - WNDL_CACHE_LOG2);
    return (uint32_t)(index * sizeof(struct wndl_entry));
}

static inline struct wndl_entry *wndl_cache_at(
    struct wndl_unwinder *u, uint32_t offset)
{
    return (struct wndl_entry *)(void *)((uint8_t *)u->slots + offset);
}

/* Of no_code too: it lies behind the slots, and its key is 0. */
static inline uint32_t wndl_cache_offset(
    const struct wndl_unwinder *u, const struct wndl_entry *entry)
{
    return (uint32_t)((const uint8_t *)entry - (const uint8_t *)u->slots);
}

/* Where to look in the `look`-th place, look < WNDL_CACHE_WAYS. */
static inline uint32_t wndl_cache_place(uint32_t home, uint32_t look)
{
    return home ^ look * (uint32_t)sizeof(struct wndl_entry);
}

/* The entry of `key`, compiled now if it is new. Never NULL. Valid until
 * the next call, which may recycle it. */
struct wndl_entry *wndl_cache_find(struct wndl_unwinder *u, uint64_t key);

/* The same, inlined for where it mostly is. */
static inline struct wndl_entry *wndl_cache_get(
    struct wndl_unwinder *u, uint64_t key)
{
    struct wndl_entry *entry = wndl_cache_at(u, wndl_cache_home(key));
    return entry->key == key && key != 0 ? entry : wndl_cache_find(u, key);
}

#endif
