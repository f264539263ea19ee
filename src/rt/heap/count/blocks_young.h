/* SPDX-License-Identifier: MIT */
/*
 * blocks_young: blocks that have just been made. Most do not grow old. What a
 * thread has just made that works on the table without locks is here, by where
 * it is, until another one needs its place: it is in its shard only then, or
 * when other threads come. No block is in both.
 *
 * For who works on the table alone.
 */
#ifndef WNDL_RT_HEAP_COUNT_BLOCKS_YOUNG_H
#define WNDL_RT_HEAP_COUNT_BLOCKS_YOUNG_H

#include "rt/heap/count/shards.h"

enum { WNDL_RT_YOUNG = 256 };

extern WNDL_RT_HIDDEN struct wndl_rt_entry wndl_rt_young[WNDL_RT_YOUNG];

/* Some are, or there is an owner, who may put some here. */
extern WNDL_RT_HIDDEN _Atomic bool wndl_rt_has_young;

/* Moves one to its shard, where its address is in no entry. False: it stays. */
bool wndl_rt_young_grow_old(struct wndl_rt_entry *e);

/* Takes a block that is not young. */
enum wndl_rt_found wndl_rt_young_take_old(
    uint64_t address, struct wndl_rt_block *block);

/* These are as those of blocks.h. */
enum wndl_rt_found wndl_rt_young_hold(
    uint64_t address, const struct wndl_rt_look_at *look);

static inline struct wndl_rt_entry *wndl_rt_young_at(uint64_t address)
{
    return &wndl_rt_young[(address >> 4) % WNDL_RT_YOUNG];
}

/* A quick look. */
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
