/* SPDX-License-Identifier: MIT */
/*
 * block_marks: a quick look at whether there may be a block. Any thread, any
 * signal handler.
 */
#ifndef WNDL_RT_HEAP_COUNT_BLOCK_MARKS_H
#define WNDL_RT_HEAP_COUNT_BLOCK_MARKS_H

#include "rt/core/rt.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * How many blocks are marked, by 128 bytes of where they are. Blocks that are
 * next to each other are freed one after the other more often than not: the
 * counts of 8 KiB are in one line of the cache.
 */
enum { WNDL_RT_MARKS = 1 << 20, WNDL_RT_MARKED_SHIFT = 7 };
extern WNDL_RT_HIDDEN _Atomic uint8_t wndl_rt_block_marks[WNDL_RT_MARKS];

/* Heaps begin at multiples of 64 MiB: each has a beginning of its own here. */
static inline _Atomic uint8_t *wndl_rt_block_mark_of(uint64_t address)
{
    uint32_t at = (uint32_t)(address >> WNDL_RT_MARKED_SHIFT) +
                  (uint32_t)(address >> 26) * UINT32_C(0x9e37);
    return &wndl_rt_block_marks[at % WNDL_RT_MARKS];
}

/*
 * A quick look at whether there may be a block at `address`: always true of
 * one that wndl_rt_blocks_mark() was told of.
 */
static inline bool wndl_rt_blocks_maybe(uint64_t address)
{
    return atomic_load_explicit(
               wndl_rt_block_mark_of(address), memory_order_relaxed) != 0;
}

void wndl_rt_blocks_mark(uint64_t address);
void wndl_rt_blocks_unmark(uint64_t address);

#endif
