/* SPDX-License-Identifier: MIT */
/*
 * prefault: requests pages of the shared memory several at a time, before a
 * table that grows from one end to the other reaches them. Requesting a page by
 * a write takes the kernel twice as long as one of several, and displaces more
 * of the processor's caches. The first pages are not requested, so that small
 * programs touch no extra memory.
 *
 * Signal handlers may call it. Where the system lacks the request, or forbids
 * it, nothing is lost.
 */
#ifndef WNDL_RT_HEAP_COUNT_PREFAULT_H
#define WNDL_RT_HEAP_COUNT_PREFAULT_H

#include <stddef.h>

enum { WNDL_RT_PREFAULT = 32 * 1024 /* bytes */ };

/*
 * The bytes of each table, from its start, that were requested or left alone.
 * It belongs to one thread.
 */
struct wndl_rt_prefault {
    size_t nodes, sites, counts;
};

/* The state for new tables. */
static inline struct wndl_rt_prefault wndl_rt_prefault_none(void)
{
    return (struct wndl_rt_prefault){
        WNDL_RT_PREFAULT, WNDL_RT_PREFAULT, WNDL_RT_PREFAULT};
}

void wndl_rt_prefault_fetch(size_t *there, const void *table, size_t offset);

/*
 * Prepares the table's memory for a new entry at `offset` bytes from its start.
 */
static inline void wndl_rt_prefault_of(
    size_t *there, const void *table, size_t offset)
{
    if (__builtin_expect(offset >= *there, 0))
        wndl_rt_prefault_fetch(there, table, offset);
}

#endif
