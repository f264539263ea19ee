/* SPDX-License-Identifier: MIT */
/*
 * prefault: asking for pages of the shared memory some at a time, before what
 * grows there from one end to the other. A page that is asked for by being
 * written to takes the kernel twice as long as one of several, and turns more
 * out of the processor's caches. The first pages are left to that: small
 * programs touch no memory for this.
 *
 * Signal handlers: yes. Where the system has no such request, or none may be
 * made, nothing is lost.
 */
#ifndef WNDL_RT_HEAP_COUNT_PREFAULT_H
#define WNDL_RT_HEAP_COUNT_PREFAULT_H

#include <stddef.h>

enum { WNDL_RT_PREFAULT = 32 * 1024 /* bytes */ };

/* How much of each table is there, in bytes from its start; or is left alone.
 * A thread's own. */
struct wndl_rt_prefault {
    size_t nodes, sites, counts;
};

/* Of new tables. */
static inline struct wndl_rt_prefault wndl_rt_prefault_none(void)
{
    return (struct wndl_rt_prefault){
        WNDL_RT_PREFAULT, WNDL_RT_PREFAULT, WNDL_RT_PREFAULT};
}

void wndl_rt_prefault_fetch(size_t *there, const void *table, size_t offset);

/* `offset` bytes from the table's start on there is something new. */
static inline void wndl_rt_prefault_of(
    size_t *there, const void *table, size_t offset)
{
    if (__builtin_expect(offset >= *there, 0))
        wndl_rt_prefault_fetch(there, table, offset);
}

#endif
