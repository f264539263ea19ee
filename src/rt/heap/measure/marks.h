/* SPDX-License-Identifier: MIT */
/*
 * marks: which blocks memory reporters have reported, and from which stacks. A
 * block's mark is in the table of blocks, in place of the time that dark-matter
 * mode does not keep. So a free removes it, which costs nothing, and a block at
 * the same address begins without one.
 *
 * A mark is a report set, the number of the stacks that reported the block, and
 * the run in which that was. Marks of earlier runs are void; what a program
 * reports at an allocation stays until the free.
 *
 * Report sets are in private memory of their own. They are never removed, so
 * that a number keeps its meaning. Lock-free; any thread.
 */
#ifndef WNDL_RT_HEAP_MEASURE_MARKS_H
#define WNDL_RT_HEAP_MEASURE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WNDL_RT_REPORT_SETS = 1 << 16,
    WNDL_RT_MARK_SET_BITS = 20,
    WNDL_RT_MARK_RUN_BITS = 26, /* both: less than the 47 bits of a time */
};

_Static_assert(WNDL_RT_REPORT_SETS <= 1 << WNDL_RT_MARK_SET_BITS &&
                   WNDL_RT_MARK_SET_BITS + WNDL_RT_MARK_RUN_BITS < 47,
    "a mark has no room in a block's time");

/* A report of a block. */
struct wndl_rt_report {
    uint32_t node;   /* of the stack; 0: none */
    uint8_t end;     /* enum wndl_walk_end */
    bool is_lasting; /* made at the allocation */
};

/* The first two reports of a block; others are not kept. */
struct wndl_rt_report_set {
    uint32_t nodes[2];
    uint8_t ends[2];
    uint8_t reports; /* 1 or 2 */
    uint8_t lasting; /* how many of these */
    uint32_t rest;   /* the set of those alone, unless all are; 0: none is */
};

static inline uint64_t wndl_rt_mark(uint32_t run, uint32_t set)
{
    return (uint64_t)run << WNDL_RT_MARK_SET_BITS | set;
}

/* The set of a set's number, which is not 0. */
const struct wndl_rt_report_set *wndl_rt_report_set(uint32_t number);

/* The set that is left of this one after the run: a number, or 0. */
static inline uint32_t wndl_rt_report_set_lasting(uint32_t number)
{
    const struct wndl_rt_report_set *set = wndl_rt_report_set(number);
    return set->lasting == set->reports ? number : set->rest;
}

/* The number of the set that a mark has in `run`; 0: not reported. */
static inline uint32_t wndl_rt_mark_set(uint64_t mark, uint32_t run)
{
    const uint32_t set =
        (uint32_t)mark & ((UINT32_C(1) << WNDL_RT_MARK_SET_BITS) - 1);
    if (set == 0 || mark >> WNDL_RT_MARK_SET_BITS == run)
        return set;
    return wndl_rt_report_set_lasting(set);
}

/*
 * The number of the set that has one report more than set `before`, a number or
 * 0. If there is no room or no memory, `before`.
 */
uint32_t wndl_rt_report_set_after(
    uint32_t before, const struct wndl_rt_report *report);

/* In a forked child, whose stacks have other nodes. */
void wndl_rt_report_sets_forget(void);

#endif
