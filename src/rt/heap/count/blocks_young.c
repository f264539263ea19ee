/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/blocks_young.h"

_Alignas(64) struct wndl_rt_entry wndl_rt_young[WNDL_RT_YOUNG];
_Atomic bool wndl_rt_has_young;

bool wndl_rt_young_grow_old(struct wndl_rt_entry *e)
{
    struct wndl_rt_shard *s = wndl_rt_shard_of(wndl_rt_entry_address(e));
    struct wndl_rt_block none;
    if (wndl_rt_is_lost(&s->lock) ||
        wndl_rt_shard_put(s, e, &none) == WNDL_RT_BLOCK_LOST)
        return false;
    e->first = 0;
    return true;
}

enum wndl_rt_found wndl_rt_young_take_old(
    uint64_t address, struct wndl_rt_block *block)
{
    struct wndl_rt_shard *s = wndl_rt_shard_of(address);
    if (wndl_rt_is_lost(&s->lock))
        return WNDL_RT_BLOCK_LOST;
    return wndl_rt_shard_take(s, address, block);
}

enum wndl_rt_found wndl_rt_young_hold(
    uint64_t address, const struct wndl_rt_look_at *look)
{
    const struct wndl_rt_shard *s = wndl_rt_shard_of(address);
    struct wndl_rt_entry *e = wndl_rt_young_at(address);
    if (wndl_rt_entry_is_at(e, address))
        return wndl_rt_entry_look(e, look);
    return wndl_rt_is_lost(&s->lock)
               ? WNDL_RT_BLOCK_LOST
               : wndl_rt_entry_look(wndl_rt_shard_find_used(s, address), look);
}
