/* SPDX-License-Identifier: MIT */
/*
 * block_marks: a quick test whether there may be a block. Any thread, any
 * signal handler.
 */
#ifndef WNDL_RT_HEAP_COUNT_BLOCK_MARKS_H
#define WNDL_RT_HEAP_COUNT_BLOCK_MARKS_H

#include "rt/core/rt.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The number of marked blocks in each 128 bytes of addresses. Neighbours are
 * often freed one after the other, so the counts of 8 KiB share a cache line.
 */
enum { WNDL_RT_MARKS = 1 << 20, WNDL_RT_MARKED_SHIFT = 7 };
extern WNDL_RT_HIDDEN _Atomic uint8_t wndl_rt_block_marks[WNDL_RT_MARKS];

/*
 * Heaps begin at multiples of 64 MiB. The second term spreads their beginnings.
 */
static inline _Atomic uint8_t *wndl_rt_block_mark_of(uint64_t address)
{
    uint32_t at = (uint32_t)(address >> WNDL_RT_MARKED_SHIFT) +
                  (uint32_t)(address >> 26) * UINT32_C(0x9e37);
    return &wndl_rt_block_marks[at % WNDL_RT_MARKS];
}

/*
 * A quick test whether there may be a block at `address`. It is always true for
 * a block that was given to wndl_rt_blocks_mark().
 */
static inline bool wndl_rt_blocks_maybe(uint64_t address)
{
    return atomic_load_explicit(
               wndl_rt_block_mark_of(address), memory_order_relaxed) != 0;
}

void wndl_rt_blocks_mark(uint64_t address);
void wndl_rt_blocks_unmark(uint64_t address);

#endif
