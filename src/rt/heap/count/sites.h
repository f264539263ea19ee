/* SPDX-License-Identifier: MIT */
/*
 * sites: the distinct (stack, sizes) of allocations in the shared memory, as
 * defined in rec/heap.h. Lock-free; any thread, any signal handler.
 */
#ifndef WNDL_RT_HEAP_COUNT_SITES_H
#define WNDL_RT_HEAP_COUNT_SITES_H

#include "rec/heap.h"

struct wndl_rt_sites {
    struct wndl_heap_site *sites;
    _Atomic uint32_t *index; /* 2 * max */
    _Atomic uint32_t *count;
    uint32_t max;
};

/*
 * A thread's cache of sites. Its key is a hash of stack and sizes with 96 bits.
 * Two of a million sites have the same key in one of 2^56 programs. Zeroed
 * memory is an empty cache.
 */
enum { WNDL_RT_RECENT_SITES = 4096, WNDL_RT_RECENT_WAYS = 4 };

struct wndl_rt_recent {
    uint64_t a;
    uint32_t b, number; /* of the site, plus one */
};

/* The cache line that may contain the key. */
static inline uint64_t wndl_rt_recent_line(const struct wndl_rt_recent *wanted)
{
    return wanted->a / (UINT64_MAX / WNDL_RT_RECENT_SITES + 1) /
           WNDL_RT_RECENT_WAYS * WNDL_RT_RECENT_WAYS;
}

/* 0: it is not there. */
static inline uint32_t wndl_rt_recent_find(
    const struct wndl_rt_recent recent[WNDL_RT_RECENT_SITES],
    const struct wndl_rt_recent *wanted)
{
    const struct wndl_rt_recent *r = &recent[wndl_rt_recent_line(wanted)];
    for (int way = 0; way < WNDL_RT_RECENT_WAYS; way++) {
        if (r[way].a == wanted->a && r[way].b == wanted->b)
            return r[way].number;
    }
    return 0;
}

/* Puts a new key first, and drops the last one of its line. */
static inline void wndl_rt_recent_keep(
    struct wndl_rt_recent recent[WNDL_RT_RECENT_SITES],
    const struct wndl_rt_recent *wanted)
{
    struct wndl_rt_recent *r = &recent[wndl_rt_recent_line(wanted)];
    for (int way = WNDL_RT_RECENT_WAYS - 1; way > 0; way--)
        r[way] = r[way - 1];
    r[0] = *wanted;
}

/*
 * The number of the site plus one. A new site is added. 0 if there is no room.
 * `usable` is as in the memory: bytes + 1.
 */
uint32_t wndl_rt_sites_find(
    const struct wndl_rt_sites *table, const struct wndl_heap_site *wanted);

#endif
