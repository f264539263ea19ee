/* SPDX-License-Identifier: MIT */
/*
 * sites: the distinct (stack, sizes) of allocations, the sites of rec/heap.h,
 * in the shared memory. Lock-free; any thread, any signal handler.
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
 * What a thread remembers of sites, by what stands for a stack and sizes: 96
 * bits, which any two of a million sites have in common in one of 2^56
 * programs. Zeroed memory remembers nothing.
 */
enum { WNDL_RT_RECENT_SITES = 4096, WNDL_RT_RECENT_WAYS = 4 };

struct wndl_rt_recent {
    uint64_t a;
    uint32_t b, number; /* of the site, plus one */
};

/* The line of the cache that it may be in. */
static inline uint64_t wndl_rt_recent_line(const struct wndl_rt_recent *wanted)
{
    return wanted->a / (UINT64_MAX / WNDL_RT_RECENT_SITES + 1) /
           WNDL_RT_RECENT_WAYS * WNDL_RT_RECENT_WAYS;
}

/* 0: it is not remembered. */
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

/* What is new comes first, and the last one is forgotten. */
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
 * The number of the site, which is added if it is new, plus one. 0 when there
 * is no room. `usable` is as in the memory: bytes + 1.
 */
uint32_t wndl_rt_sites_find(
    const struct wndl_rt_sites *table, const struct wndl_heap_site *wanted);

#endif
