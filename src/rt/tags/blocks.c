/* SPDX-License-Identifier: MIT */
#include "rt/tags/blocks.h"

uint16_t wndl_rt_learned[WNDL_RT_LEARNED];

static _Atomic uint64_t missed;

size_t wndl_rt_learn(void *block, size_t size)
{
    const size_t usable = wndl_rt_tags_usable(block);
    if (size < WNDL_RT_LEARNED && usable <= UINT16_MAX)
        __atomic_store_n(
            &wndl_rt_learned[size], (uint16_t)usable, __ATOMIC_RELAXED);
    return usable;
}

uint32_t wndl_rt_tagged_end_any(void *block)
{
    wndl_rt_mark *at = wndl_rt_mark_at(block, false);
    const uint32_t mark =
        at == NULL ? 0 : atomic_load_explicit(at, memory_order_relaxed);
    return mark == 0 ? 0 : wndl_rt_tagged_end(block, at, mark);
}

void wndl_rt_tagged_miss(void)
{
    atomic_fetch_add(&missed, 1);
}

uint64_t wndl_rt_tagged_missed(void)
{
    return atomic_load(&missed);
}
