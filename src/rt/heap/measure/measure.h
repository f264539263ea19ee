/* SPDX-License-Identifier: MIT */
/*
 * measure: what the program's memory reporters ask of the recorder
 * (windlass/memory.h): the size of a block, which is then reported.
 *
 * Pointers that are no block are answered with 0, and counted with their stack.
 */
#ifndef WNDL_RT_HEAP_MEASURE_MEASURE_H
#define WNDL_RT_HEAP_MEASURE_MEASURE_H

#include "rt/heap/record/record.h"

/*
 * The usable bytes of `block`, by `real` where not all blocks are known. While
 * reporters run, it is then reported once more from the stack of `regs`, or
 * with `is_lasting` until it is freed. For a thread that is busy.
 */
size_t wndl_rt_heap_measure(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_allocator *real, const void *block, bool is_lasting,
    const struct wndl_regs *regs);

/* Live usable bytes of all blocks, at a site or not. */
int64_t wndl_rt_heap_live_bytes(void);

/*
 * Begins a run of the reporters, in which no block is reported yet but at its
 * allocation, or goes on with the last. Ends it: counts all blocks by their
 * reports, for the collector. Any thread that is not busy.
 */
void wndl_rt_heap_begin_reports(bool is_new);
void wndl_rt_heap_end_reports(void);

/* In a forked child. */
void wndl_rt_heap_measure_after_fork(void);

#endif
