/* SPDX-License-Identifier: MIT */
/*
 * heap_state: what the recording of the heap goes by, in all its parts.
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
    struct wndl_rt_pairs pairs;
    uint64_t sample_below; /* bytes; 0: every block is taken */
    uint64_t quick_below;  /* the same, or 0: heap_untaken.h */
    bool cumulative;
    bool leaks;    /* to be looked for */
    bool inherits; /* blocks of its forefathers, of which not all were taken */
};

extern struct wndl_rt_heap_state *wndl_rt_heap;

/* Of the process: its forefathers' blocks are still in the table. */
extern uint8_t wndl_rt_heap_generation;

/* There may be blocks that nobody has heard of. */
extern bool wndl_rt_heap_unsure;
void wndl_rt_heap_doubt(void);

/* The calling thread is at work. */
bool wndl_rt_heap_is_busy(void);

enum {
    WNDL_RT_TICK_SHIFT = 6,
    /* The time of a block's birth is even, or one of these. */
    WNDL_RT_UNTIMED = 0,
    WNDL_RT_TIMED_FOR_MORE = 1, /* or'd: it stands for others, too */
};

/* In ticks, even. */
static inline uint64_t wndl_rt_heap_now(void)
{
    return wndl_rt_tsc() >> WNDL_RT_TICK_SHIFT & ~UINT64_C(1);
}

#endif
