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
 * over-full sets. A set is searched from the key's home slot on, so that the
 * first look is mostly the last.
 */
enum {
    WNDL_CACHE_LOG2 = 14,
    WNDL_CACHE_ENTRIES = 1 << WNDL_CACHE_LOG2,
    WNDL_CACHE_WAYS = 16,
    WNDL_CACHE_LINE = 4, /* entries in a cache line */
};

/*
 * slots[0] is the rule of what cannot be a pc; no key matches it but ~0. The
 * sets start on the next cache line. Invariants: a set has no used slot after
 * a free one, counted from a key's home slot round to where that key is;
 * every `next` is 0 or the byte offset in `slots` of an entry of a set.
 */
struct wndl_unwinder {
    _Alignas(64) struct wndl_entry slots[WNDL_CACHE_LINE + WNDL_CACHE_ENTRIES];
    uint32_t victim; /* round robin in full sets */
};

/* Where the search for `key` starts. */
static inline uint32_t wndl_cache_home(uint64_t key)
{
    const uint64_t golden_ratio = 0x9e3779b97f4a7c15u;
    return (uint32_t)((key * golden_ratio) >> (64 - WNDL_CACHE_LOG2));
}

/* The entry of `key`, compiled now if it is new. Never NULL. Valid until
 * the next call, which may recycle it. */
struct wndl_entry *wndl_cache_find(struct wndl_unwinder *u, uint64_t key);

#endif
