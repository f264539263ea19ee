/* SPDX-License-Identifier: MIT */
/* state: the state of heap recording that all its parts use. */
#ifndef WNDL_RT_HEAP_COUNT_STATE_H
#define WNDL_RT_HEAP_COUNT_STATE_H

#include "rt/core/rt.h"
#include "rt/heap/count/sites.h"

#include <stdbool.h>

#define WNDL_RT_LIKELY(x) __builtin_expect(!!(x), 1)

/*
 * Keeps rare work out of line, so that frequent work need not save registers
 * for it.
 */
#define WNDL_RT_NOINLINE __attribute__((noinline))

/*
 * The state. `shared` is NULL while nothing is recorded. It is in a page of its
 * own, which is empty in a child that was forked without libc, because the
 * shared memory is its parent's.
 */
struct wndl_rt_heap_state {
    struct wndl_heap *shared;
    struct wndl_rt_sites sites;
    uint64_t sample_below; /* bytes; 0: every block is sampled */
    uint64_t quick_below;  /* the same, or 0: record/unsampled.h */
    bool cumulative;
    bool leaks;  /* leaks will be searched */
    bool dark;   /* reports are marked: measure/marks.h */
    bool starts; /* a thread has a tag: the stack that created it */
    struct wndl_heap_scan *scan; /* NULL: none is wanted */
    bool contents;               /* with it */
    uintptr_t pointer_tags; /* bits of words that are no part of an address */
    /* it has blocks of its ancestors, of which not all were sampled */
    bool inherits;
};

extern WNDL_RT_HIDDEN struct wndl_rt_heap_state *wndl_rt_heap;

/* The state before the first recording. */
extern WNDL_RT_HIDDEN struct wndl_rt_heap_state wndl_rt_heap_none;

/* The generation of the process. Its ancestors' blocks stay in the table. */
extern WNDL_RT_HIDDEN uint8_t wndl_rt_heap_generation;

/*
 * True if blocks may have been allocated unseen. A free of an unknown block may
 * then be right.
 */
extern WNDL_RT_HIDDEN bool wndl_rt_heap_inconsistent;
void wndl_rt_heap_set_inconsistent(void);

enum {
    WNDL_RT_TICK_SHIFT = 6,
    /* A block's time of allocation is even, or one of these. */
    WNDL_RT_UNTIMED = 0,
    WNDL_RT_TIMED_FOR_MORE = 1, /* or-ed: it stands for others, too */
};

/* The time in ticks, even. */
static inline uint64_t wndl_rt_heap_now(void)
{
    return wndl_rt_tsc() >> WNDL_RT_TICK_SHIFT & ~UINT64_C(1);
}

#endif
