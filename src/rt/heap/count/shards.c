/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/shards.h"

#include "os/raw.h"
#include "rt/core/rt.h"

#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    FIRST_ROOM = 256,      /* entries: a page */
    LOOSE_ROOM = 8 * 1024, /* up to here shards are only half full */
};

struct wndl_rt_shard wndl_rt_shards[WNDL_RT_SHARDS];

/* From there on at least two in three are used: 24 bytes a block. */
static uint32_t next_room(uint32_t room)
{
    if (room == 0)
        return FIRST_ROOM;
    return room < LOOSE_ROOM ? 2 * room : room + room / 4;
}

static uint32_t limit_of(uint32_t room)
{
    return room <= LOOSE_ROOM ? room / 2 : room - room / 8;
}

static void add_entry(struct wndl_rt_shard *s, const struct wndl_rt_entry *e)
{
    uint32_t i = wndl_rt_shard_home(s, wndl_rt_entry_address(e));
    while (s->entries[i].first != 0)
        i = i + 1 == s->room ? 0 : i + 1;
    s->entries[i] = *e;
}

bool wndl_rt_shard_grow(struct wndl_rt_shard *s)
{
    struct wndl_rt_shard old = {.room = s->room, .entries = s->entries};
    uint32_t room = next_room(old.room);
    struct wndl_rt_entry *entries = wndl_raw_map(room * sizeof *entries,
        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (entries == NULL)
        return s->used + 1 < s->room;
    if (!wndl_rt_is_careful())
        (void)wndl_raw3(SYS_madvise, (long)entries,
            (long)(room * sizeof *entries), MADV_DONTDUMP);
    s->entries = entries;
    s->room = room;
    s->limit = limit_of(room);
    for (uint32_t i = 0; i < old.room; i++) {
        if (old.entries[i].first != 0)
            add_entry(s, &old.entries[i]);
    }
    if (old.room != 0)
        wndl_raw_unmap(old.entries, old.room * sizeof *entries);
    return true;
}

size_t wndl_rt_shard_bytes(const struct wndl_rt_shard *s)
{
    return (s->room * sizeof *s->entries + PAGE - 1) & ~(size_t)(PAGE - 1);
}

void wndl_rt_shard_move(struct wndl_rt_shard *s, void *to)
{
    struct wndl_rt_entry *old = s->entries;
    memcpy(to, old, s->room * sizeof *old);
    s->entries = to;
    wndl_raw_unmap(old, s->room * sizeof *old);
}

enum wndl_rt_found wndl_rt_entry_look(
    struct wndl_rt_entry *e, const struct wndl_rt_look_at *look)
{
    if (e == NULL)
        return WNDL_RT_BLOCK_ABSENT;
    struct wndl_rt_block block = wndl_rt_entry_unpack(e);
    const bool grown = block.grown;
    const uint64_t time = block.time;
    look->at(look->context, &block);
    if (block.grown != grown || block.time != time)
        *e = wndl_rt_entry_pack(&block);
    return WNDL_RT_BLOCK_FOUND;
}
