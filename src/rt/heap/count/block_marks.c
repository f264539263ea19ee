/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/block_marks.h"

_Atomic uint8_t wndl_rt_block_marks[WNDL_RT_MARKS];

/* A full one stays so. */
static void change_mark(uint64_t address, int by)
{
    _Atomic uint8_t *mark = wndl_rt_block_mark_of(address);
    uint8_t old = atomic_load_explicit(mark, memory_order_relaxed);
    while (old != UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(mark, &old,
               (uint8_t)(old + by), memory_order_relaxed, memory_order_relaxed))
        ;
}

void wndl_rt_blocks_mark(uint64_t address)
{
    change_mark(address, 1);
}

void wndl_rt_blocks_unmark(uint64_t address)
{
    change_mark(address, -1);
}
