/* SPDX-License-Identifier: MIT */
/*
 * blocks_young: blocks that were just made. Most of them are freed soon. A
 * thread that works without locks keeps its new blocks here, by address, until
 * another block needs the place or other threads come. Only then they move to
 * their shard. No block is in both.
 *
 * For the thread that works on the table alone.
 */
#ifndef WNDL_RT_HEAP_COUNT_BLOCKS_YOUNG_H
#define WNDL_RT_HEAP_COUNT_BLOCKS_YOUNG_H

#include "rt/heap/count/shards.h"

enum { WNDL_RT_YOUNG = 256 };

extern WNDL_RT_HIDDEN struct wndl_rt_entry wndl_rt_young[WNDL_RT_YOUNG];

/* True if there are such blocks, or an owner, who may put some here. */
extern WNDL_RT_HIDDEN _Atomic bool wndl_rt_has_young;

/*
 * Moves a block to its shard, where no entry has its address. False: it stays.
 */
bool wndl_rt_young_grow_old(struct wndl_rt_entry *e);

/* Takes a block that is not young. */
enum wndl_rt_found wndl_rt_young_take_old(
    uint64_t address, struct wndl_rt_block *block);

/* These are like those of blocks.h. */
enum wndl_rt_found wndl_rt_young_hold(
    uint64_t address, const struct wndl_rt_look_at *look);

static inline struct wndl_rt_entry *wndl_rt_young_at(uint64_t address)
{
    return &wndl_rt_young[(address >> 4) % WNDL_RT_YOUNG];
}

/* A quick test. */
static inline bool wndl_rt_young_may_be_old(uint64_t address)
{
    const struct wndl_rt_shard *s = wndl_rt_shard_of(address);
    return s->room != 0 &&
           s->entries[wndl_rt_shard_home(s, address)].first != 0;
}

static inline enum wndl_rt_found wndl_rt_young_put(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    struct wndl_rt_entry *e = wndl_rt_young_at(block->address);
    enum wndl_rt_found found = WNDL_RT_BLOCK_ABSENT;
    if (wndl_rt_entry_is_at(e, block->address)) {
        *before = wndl_rt_entry_unpack(e);
        found = WNDL_RT_BLOCK_FOUND;
    } else if (e->first != 0 && !wndl_rt_young_grow_old(e)) {
        return WNDL_RT_BLOCK_LOST;
    } else if (wndl_rt_young_may_be_old(block->address)) {
        found = wndl_rt_young_take_old(block->address, before);
    }
    if (found == WNDL_RT_BLOCK_LOST)
        return WNDL_RT_BLOCK_LOST;
    *e = wndl_rt_entry_pack(block);
    atomic_store_explicit(&wndl_rt_has_young, true, memory_order_relaxed);
    return found;
}

static inline enum wndl_rt_found wndl_rt_young_take(
    uint64_t address, struct wndl_rt_block *block)
{
    struct wndl_rt_entry *e = wndl_rt_young_at(address);
    if (!wndl_rt_entry_is_at(e, address))
        return wndl_rt_young_take_old(address, block);
    *block = wndl_rt_entry_unpack(e);
    e->first = 0;
    return WNDL_RT_BLOCK_FOUND;
}

#endif
