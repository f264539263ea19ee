/* SPDX-License-Identifier: MIT */
/*
 * state: what the recording of the heap goes by, in all its parts.
 */
#ifndef WNDL_RT_HEAP_COUNT_STATE_H
#define WNDL_RT_HEAP_COUNT_STATE_H

#include "rt/core/rt.h"
#include "rt/heap/count/sites.h"

#include <stdbool.h>

#define WNDL_RT_LIKELY(x) __builtin_expect(!!(x), 1)

/* So that what is done often need not save registers for what is not. */
#define WNDL_RT_NOINLINE __attribute__((noinline))

/*
 * `shared` is NULL while nothing is recorded. In a page of its own, which a
 * child that is forked behind the libc's back finds empty: the shared memory
 * is its parent's.
 */
struct wndl_rt_heap_state {
    struct wndl_heap *shared;
    struct wndl_rt_sites sites;
    uint64_t sample_below; /* bytes; 0: every block is sampled */
    uint64_t quick_below;  /* the same, or 0: record/unsampled.h */
    bool cumulative;
    bool leaks; /* to be looked for */
    bool
        inherits; /* blocks of its forefathers, of which not all were sampled */
};

extern WNDL_RT_HIDDEN struct wndl_rt_heap_state *wndl_rt_heap;

/* What that is before the first recording. */
extern WNDL_RT_HIDDEN struct wndl_rt_heap_state wndl_rt_heap_none;

/* Of the process: its forefathers' blocks are still in the table. */
extern WNDL_RT_HIDDEN uint8_t wndl_rt_heap_generation;

/* Blocks may have been allocated unseen: a free of what is unknown may be
 * right. */
extern WNDL_RT_HIDDEN bool wndl_rt_heap_inconsistent;
void wndl_rt_heap_set_inconsistent(void);

enum {
    WNDL_RT_TICK_SHIFT = 6,
    /* The time of a block's allocation is even, or one of these. */
    WNDL_RT_UNTIMED = 0,
    WNDL_RT_TIMED_FOR_MORE = 1, /* or'd: it stands for others, too */
};

/* In ticks, even. */
static inline uint64_t wndl_rt_heap_now(void)
{
    return wndl_rt_tsc() >> WNDL_RT_TICK_SHIFT & ~UINT64_C(1);
}

#endif
