/* SPDX-License-Identifier: MIT */
/*
 * shards: the table of blocks that are no longer young. The user of a shard
 * takes its lock, unless it works here alone.
 */
#ifndef WNDL_RT_HEAP_COUNT_SHARDS_H
#define WNDL_RT_HEAP_COUNT_SHARDS_H

#include "base/hash.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/lock.h"

enum {
    WNDL_RT_SHARDS = 256,
    WNDL_RT_REGION_SHIFT = 20, /* blocks of one region are in one shard */
};

/*
 * An entry. `first` is address << 16 | generation << 8 | grown << 7 | time >>
 * 40, and `second` is time << 24 | site. `first` is 0 in a free entry.
 */
struct wndl_rt_entry {
    uint64_t first, second;
};

/*
 * A hash table with open addressing and linear probing. When an entry is
 * removed, later ones move up, so that a free entry always ends a probe.
 */
struct wndl_rt_shard {
    _Alignas(64) struct wndl_rt_lock lock;
    uint32_t room; /* entries, 0 at first */
    uint32_t used;
    uint32_t limit; /* of `used`; less than room */
    struct wndl_rt_entry *entries;
};

extern WNDL_RT_HIDDEN struct wndl_rt_shard wndl_rt_shards[WNDL_RT_SHARDS];

static inline struct wndl_rt_shard *wndl_rt_shard_of(uint64_t address)
{
    uint64_t region = (address >> WNDL_RT_REGION_SHIFT) * WNDL_GOLDEN;
    return &wndl_rt_shards[region >> 56];
}

static inline uint32_t wndl_rt_shard_home(
    const struct wndl_rt_shard *s, uint64_t address)
{
    uint64_t hash = (address >> 4) * WNDL_GOLDEN;
    return (uint32_t)(((hash >> 32) * s->room) >> 32);
}

static inline uint64_t wndl_rt_entry_address(const struct wndl_rt_entry *e)
{
    return e->first >> 16;
}

static inline struct wndl_rt_entry wndl_rt_entry_pack(
    const struct wndl_rt_block *b)
{
    return (struct wndl_rt_entry){
        .first = b->address << 16 | (uint64_t)b->generation << 8 |
                 (uint64_t)b->grown << 7 | (b->time >> 40 & 127),
        .second = b->time << 24 | b->site,
    };
}

static inline struct wndl_rt_block wndl_rt_entry_unpack(
    const struct wndl_rt_entry *e)
{
    return (struct wndl_rt_block){
        .address = wndl_rt_entry_address(e),
        .time = (e->first & 127) << 40 | e->second >> 24,
        .site = e->second & 0xffffff,
        .generation = (uint8_t)(e->first >> 8),
        .grown = (e->first >> 7 & 1) != 0,
    };
}

static inline bool wndl_rt_entry_is_at(
    const struct wndl_rt_entry *e, uint64_t address)
{
    return wndl_rt_entry_address(e) == address;
}

/* The action of wndl_rt_blocks_hold() on a block. */
struct wndl_rt_look_at {
    void (*at)(void *context, struct wndl_rt_block *block);
    void *context;
};

/* `e` is NULL if there is no block. */
enum wndl_rt_found wndl_rt_entry_look(
    struct wndl_rt_entry *e, const struct wndl_rt_look_at *look);

/* Makes room for more entries. False: there is no memory, and no room left. */
bool wndl_rt_shard_grow(struct wndl_rt_shard *s);

/* The bytes of its mapping: whole pages. */
size_t wndl_rt_shard_bytes(const struct wndl_rt_shard *s);

/* Moves its entries into that many bytes at `to`, which it then owns. */
void wndl_rt_shard_move(struct wndl_rt_shard *s, void *to);

/* The block's entry, or the free one where it would be. */
static inline struct wndl_rt_entry *wndl_rt_shard_find(
    const struct wndl_rt_shard *s, uint64_t address)
{
    uint32_t i = wndl_rt_shard_home(s, address);
    while (s->entries[i].first != 0 &&
           wndl_rt_entry_address(&s->entries[i]) != address)
        i = i + 1 == s->room ? 0 : i + 1;
    return &s->entries[i];
}

/* Whether an entry at `at` whose home is `home` may not move to `hole`. */
static inline bool wndl_rt_shard_is_between(
    uint32_t hole, uint32_t home, uint32_t at)
{
    return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

static inline void wndl_rt_shard_remove(
    struct wndl_rt_shard *s, struct wndl_rt_entry *gone)
{
    uint32_t hole = (uint32_t)(gone - s->entries);
    uint32_t i = hole;
    for (;;) {
        i = i + 1 == s->room ? 0 : i + 1;
        struct wndl_rt_entry *e = &s->entries[i];
        if (e->first == 0)
            break;
        if (wndl_rt_shard_is_between(
                hole, wndl_rt_shard_home(s, wndl_rt_entry_address(e)), i))
            continue;
        s->entries[hole] = *e;
        hole = i;
    }
    s->entries[hole] = (struct wndl_rt_entry){0};
    s->used--;
}

/* Prefetches the memory that will be read for this block. */
static inline void wndl_rt_shard_expect(uint64_t address)
{
    const struct wndl_rt_shard *s = wndl_rt_shard_of(address);
    if (s->room != 0)
        __builtin_prefetch(&s->entries[wndl_rt_shard_home(s, address)], 1);
}

static inline __attribute__((always_inline)) enum wndl_rt_found
wndl_rt_shard_put(struct wndl_rt_shard *s, const struct wndl_rt_entry *block,
    struct wndl_rt_block *before)
{
    if (s->used >= s->limit && !wndl_rt_shard_grow(s))
        return WNDL_RT_BLOCK_LOST;
    struct wndl_rt_entry *e =
        wndl_rt_shard_find(s, wndl_rt_entry_address(block));
    bool was_there = e->first != 0;
    if (was_there)
        *before = wndl_rt_entry_unpack(e);
    else
        s->used++;
    *e = *block;
    return was_there ? WNDL_RT_BLOCK_FOUND : WNDL_RT_BLOCK_ABSENT;
}

static inline struct wndl_rt_entry *wndl_rt_shard_find_used(
    const struct wndl_rt_shard *s, uint64_t address)
{
    if (s->room == 0)
        return NULL;
    struct wndl_rt_entry *e = wndl_rt_shard_find(s, address);
    return e->first == 0 ? NULL : e;
}

static inline __attribute__((always_inline)) enum wndl_rt_found
wndl_rt_shard_take(
    struct wndl_rt_shard *s, uint64_t address, struct wndl_rt_block *block)
{
    struct wndl_rt_entry *e = wndl_rt_shard_find_used(s, address);
    if (e == NULL)
        return WNDL_RT_BLOCK_ABSENT;
    *block = wndl_rt_entry_unpack(e);
    wndl_rt_shard_remove(s, e);
    return WNDL_RT_BLOCK_FOUND;
}

#endif
