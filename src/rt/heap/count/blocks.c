/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/blocks.h"

#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/heap/count/lock.h"
#include "rt/heap/count/owner.h"
#include "rt/heap/count/state.h"

#include <stddef.h>
#include <sys/mman.h>

enum {
    SHARDS = 256,
    REGION_SHIFT = 20,     /* blocks of one region are of one shard */
    FIRST_ROOM = 256,      /* entries: a page */
    LOOSE_ROOM = 8 * 1024, /* up to here shards are only half full */
    YOUNG = 256,
};

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/*
 * address << 16 | generation << 8 | grown << 7 | time >> 40, and
 * time << 24 | pair. The first is 0 in a free entry.
 */
struct entry {
    uint64_t first, second;
};

/*
 * Open addressing, probed linearly; an entry is moved when one before it is
 * removed, so that a free entry always ends a probe.
 */
struct shard {
    _Alignas(64) struct wndl_rt_lock lock;
    uint32_t room; /* entries, 0 at first */
    uint32_t used;
    uint32_t limit; /* of `used`; less than room */
    struct entry *entries;
};

static struct shard shards[SHARDS];

/*
 * Most blocks do not grow old. What a thread has just made that works here
 * without locks is here, by where it is, until another one needs its place: it
 * is in its shard only then, or when other threads come. No block is in both.
 * young_lock, for the end of that, is taken before shards' locks.
 */
static _Alignas(64) struct entry young[YOUNG];
static struct wndl_rt_lock young_lock;
static _Atomic bool has_young; /* or there is an owner, who may put some here */
static _Atomic bool is_stuck;  /* some stayed young when others came */

/* Is not 0 while the process has one thread: only that can change it. */
static const char nobody_tells;
static const char *alone = &nobody_tells;
static bool is_shared;

_Atomic uint8_t wndl_rt_block_marks[WNDL_RT_MARKS];

static struct shard *shard_of(uint64_t address)
{
    uint64_t region = (address >> REGION_SHIFT) * GOLDEN;
    return &shards[region >> 56];
}

static uint32_t home_of(const struct shard *s, uint64_t address)
{
    uint64_t hash = (address >> 4) * GOLDEN;
    return (uint32_t)(((hash >> 32) * s->room) >> 32);
}

static uint64_t address_of(const struct entry *e)
{
    return e->first >> 16;
}

static struct entry pack(const struct wndl_rt_block *b)
{
    return (struct entry){
        .first = b->address << 16 | (uint64_t)b->generation << 8 |
                 (uint64_t)b->grown << 7 | (b->time >> 40 & 127),
        .second = b->time << 24 | b->pair,
    };
}

static struct wndl_rt_block unpack(const struct entry *e)
{
    return (struct wndl_rt_block){
        .address = address_of(e),
        .time = (e->first & 127) << 40 | e->second >> 24,
        .pair = e->second & 0xffffff,
        .generation = (uint8_t)(e->first >> 8),
        .grown = (e->first >> 7 & 1) != 0,
    };
}

static bool is_alone(void)
{
    return __atomic_load_n(alone, __ATOMIC_RELAXED) != 0;
}

/* ---- tables */

/* At least two in three are used from there on: 24 bytes a block. */
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

static void add(struct shard *s, const struct entry *e)
{
    uint32_t i = home_of(s, address_of(e));
    while (s->entries[i].first != 0)
        i = i + 1 == s->room ? 0 : i + 1;
    s->entries[i] = *e;
}

static bool grow(struct shard *s)
{
    struct shard old = {.room = s->room, .entries = s->entries};
    uint32_t room = next_room(old.room);
    struct entry *entries = wndl_raw_map(room * sizeof *entries,
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
            add(s, &old.entries[i]);
    }
    if (old.room != 0)
        wndl_raw_unmap(old.entries, old.room * sizeof *entries);
    return true;
}

/* The block's place, or the free one where it would be. */
static struct entry *find(const struct shard *s, uint64_t address)
{
    uint32_t i = home_of(s, address);
    while (s->entries[i].first != 0 && address_of(&s->entries[i]) != address)
        i = i + 1 == s->room ? 0 : i + 1;
    return &s->entries[i];
}

/* Whether an entry at `at` whose home is `home` may not move to `hole`. */
static bool is_between(uint32_t hole, uint32_t home, uint32_t at)
{
    return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

static inline void remove_at(struct shard *s, struct entry *gone)
{
    uint32_t hole = (uint32_t)(gone - s->entries);
    uint32_t i = hole;
    for (;;) {
        i = i + 1 == s->room ? 0 : i + 1;
        struct entry *e = &s->entries[i];
        if (e->first == 0)
            break;
        if (is_between(hole, home_of(s, address_of(e)), i))
            continue;
        s->entries[hole] = *e;
        hole = i;
    }
    s->entries[hole] = (struct entry){0};
    s->used--;
}

/* ---- those that have grown old */

static inline void expect_old(uint64_t address)
{
    const struct shard *s = shard_of(address);
    if (s->room != 0)
        __builtin_prefetch(&s->entries[home_of(s, address)], 1);
}

static inline __attribute__((always_inline)) enum wndl_rt_found put_at(
    struct shard *s, const struct entry *block, struct wndl_rt_block *before)
{
    if (s->used >= s->limit && !grow(s))
        return WNDL_RT_BLOCK_LOST;
    struct entry *e = find(s, address_of(block));
    bool was_there = e->first != 0;
    if (was_there)
        *before = unpack(e);
    else
        s->used++;
    *e = *block;
    return was_there ? WNDL_RT_BLOCK_FOUND : WNDL_RT_BLOCK_ABSENT;
}

static inline struct entry *find_used(const struct shard *s, uint64_t address)
{
    if (s->room == 0)
        return NULL;
    struct entry *e = find(s, address);
    return e->first == 0 ? NULL : e;
}

static inline __attribute__((always_inline)) enum wndl_rt_found take_at(
    struct shard *s, uint64_t address, struct wndl_rt_block *block)
{
    struct entry *e = find_used(s, address);
    if (e == NULL)
        return WNDL_RT_BLOCK_ABSENT;
    *block = unpack(e);
    remove_at(s, e);
    return WNDL_RT_BLOCK_FOUND;
}

/* ---- those that are young */

static inline struct entry *young_at(uint64_t address)
{
    return &young[(address >> 4) % YOUNG];
}

static inline bool is_at(const struct entry *e, uint64_t address)
{
    return address_of(e) == address;
}

/* False: it stays. Nothing else is there, for put_young() has looked. */
static WNDL_RT_NOINLINE bool grow_old(struct entry *e)
{
    struct shard *s = shard_of(address_of(e));
    struct wndl_rt_block none;
    if (wndl_rt_is_lost(&s->lock) || put_at(s, e, &none) == WNDL_RT_BLOCK_LOST)
        return false;
    e->first = 0;
    return true;
}

/* A quick look. */
static inline bool may_be_old(uint64_t address)
{
    const struct shard *s = shard_of(address);
    return s->room != 0 && s->entries[home_of(s, address)].first != 0;
}

static WNDL_RT_NOINLINE enum wndl_rt_found take_old(
    uint64_t address, struct wndl_rt_block *block)
{
    struct shard *s = shard_of(address);
    if (wndl_rt_is_lost(&s->lock))
        return WNDL_RT_BLOCK_LOST;
    return take_at(s, address, block);
}

static inline enum wndl_rt_found put_young(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    struct entry *e = young_at(block->address);
    enum wndl_rt_found found = WNDL_RT_BLOCK_ABSENT;
    if (is_at(e, block->address)) {
        *before = unpack(e);
        found = WNDL_RT_BLOCK_FOUND;
    } else if (e->first != 0 && !grow_old(e)) {
        return WNDL_RT_BLOCK_LOST;
    } else if (may_be_old(block->address)) {
        found = take_old(block->address, before);
    }
    if (found == WNDL_RT_BLOCK_LOST)
        return WNDL_RT_BLOCK_LOST;
    *e = pack(block);
    atomic_store_explicit(&has_young, true, memory_order_relaxed);
    return found;
}

static inline enum wndl_rt_found take_young(
    uint64_t address, struct wndl_rt_block *block)
{
    struct entry *e = young_at(address);
    if (!is_at(e, address))
        return take_old(address, block);
    *block = unpack(e);
    e->first = 0;
    return WNDL_RT_BLOCK_FOUND;
}

struct look {
    void (*at)(void *context, struct wndl_rt_block *block);
    void *context;
};

static enum wndl_rt_found look_at(struct entry *e, const struct look *look)
{
    if (e == NULL)
        return WNDL_RT_BLOCK_ABSENT;
    struct wndl_rt_block block = unpack(e);
    bool grown = block.grown;
    look->at(look->context, &block);
    if (block.grown != grown)
        *e = pack(&block);
    return WNDL_RT_BLOCK_FOUND;
}

static WNDL_RT_NOINLINE enum wndl_rt_found hold_young(
    uint64_t address, const struct look *look)
{
    const struct shard *s = shard_of(address);
    struct entry *e = young_at(address);
    if (is_at(e, address))
        return look_at(e, look);
    return wndl_rt_is_lost(&s->lock) ? WNDL_RT_BLOCK_LOST
                                     : look_at(find_used(s, address), look);
}

/* ---- where there are other threads */

static bool grow_old_among_others(struct entry *e)
{
    if (e->first == 0)
        return true;
    struct shard *s = shard_of(address_of(e));
    if (!wndl_rt_lock(&s->lock))
        return false;
    bool has_gone = grow_old(e);
    wndl_rt_unlock(&s->lock);
    return has_gone;
}

/*
 * All that are young, which others are to find, too. What has no room to go to
 * is lost. False: the owner may still be at work. Under young_lock.
 */
static bool end_youth_held(void)
{
    bool all = true;
    if (!wndl_rt_owner_end())
        return false;
    for (struct entry *e = young; e < young + YOUNG; e++)
        all &= grow_old_among_others(e);
    wndl_rt_owner_gone();
    atomic_store_explicit(&is_stuck, !all, memory_order_relaxed);
    atomic_store_explicit(&has_young, false, memory_order_release);
    return true;
}

static WNDL_RT_NOINLINE bool end_youth(void)
{
    if (!wndl_rt_lock(&young_lock)) {
        atomic_store_explicit(&is_stuck, true, memory_order_relaxed);
        return false;
    }
    bool is_over = end_youth_held();
    wndl_rt_unlock(&young_lock);
    return is_over;
}

/* False: the shard is lost, or its owner is still at work. */
static inline bool lock_shard(struct shard *s)
{
    while (wndl_rt_lock(&s->lock)) {
        if (WNDL_RT_LIKELY(
                !atomic_load_explicit(&has_young, memory_order_acquire)))
            return true;
        wndl_rt_unlock(&s->lock);
        if (!end_youth())
            return false;
    }
    return false;
}

static void begin_to_own(void)
{
    struct shard *s = shards;
    while (s < shards + SHARDS && wndl_rt_lock(&s->lock))
        s++;
    if (s == shards + SHARDS && wndl_rt_owner_begin())
        atomic_store_explicit(&has_young, true, memory_order_relaxed);
    while (s-- > shards)
        wndl_rt_unlock(&s->lock);
}

static WNDL_RT_NOINLINE void become_owner(void)
{
    if (!wndl_rt_lock(&young_lock))
        return;
    begin_to_own();
    wndl_rt_unlock(&young_lock);
}

static WNDL_RT_NOINLINE enum wndl_rt_found put_among_others(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    struct shard *s = shard_of(block->address);
    const struct entry entry = pack(block);
    if (!lock_shard(s))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found = put_at(s, &entry, before);
    wndl_rt_unlock(&s->lock);
    if (!WNDL_RT_LIKELY(!wndl_rt_owner_wished()))
        become_owner();
    return found;
}

/* Who could not be told of one that was young cannot tell. */
static enum wndl_rt_found unless_stuck(enum wndl_rt_found found)
{
    return found == WNDL_RT_BLOCK_ABSENT &&
                   atomic_load_explicit(&is_stuck, memory_order_relaxed)
               ? WNDL_RT_BLOCK_LOST
               : found;
}

static WNDL_RT_NOINLINE enum wndl_rt_found take_among_others(
    uint64_t address, struct wndl_rt_block *block)
{
    struct shard *s = shard_of(address);
    if (!lock_shard(s))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found = take_at(s, address, block);
    wndl_rt_unlock(&s->lock);
    return unless_stuck(found);
}

static enum wndl_rt_found hold_among_others(
    uint64_t address, const struct look *look)
{
    struct shard *s = shard_of(address);
    if (!lock_shard(s))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found = look_at(find_used(s, address), look);
    wndl_rt_unlock(&s->lock);
    return found;
}

/* ---- the owner's turns, as of who is alone: functions of their own, so that
 * no other saves registers for them. */

static WNDL_RT_NOINLINE enum wndl_rt_found put_as_owner(
    const struct wndl_rt_block *block, struct wndl_rt_block *before,
    struct wndl_rt_owner *owner)
{
    enum wndl_rt_found found = put_young(block, before);
    wndl_rt_owner_leave(owner);
    return found;
}

static inline enum wndl_rt_found put_in_turn(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    struct wndl_rt_owner *owner = wndl_rt_owner_enter();
    return owner != NULL ? put_as_owner(block, before, owner)
                         : put_among_others(block, before);
}

static WNDL_RT_NOINLINE enum wndl_rt_found take_as_owner(
    uint64_t address, struct wndl_rt_block *block, struct wndl_rt_owner *owner)
{
    enum wndl_rt_found found = take_young(address, block);
    wndl_rt_owner_leave(owner);
    return found;
}

static inline enum wndl_rt_found take_in_turn(
    uint64_t address, struct wndl_rt_block *block)
{
    struct wndl_rt_owner *owner = wndl_rt_owner_enter();
    return owner != NULL ? take_as_owner(address, block, owner)
                         : take_among_others(address, block);
}

static enum wndl_rt_found hold_in_turn(
    uint64_t address, const struct look *look)
{
    struct wndl_rt_owner *owner = wndl_rt_owner_enter();
    if (owner == NULL)
        return hold_among_others(address, look);
    enum wndl_rt_found found = hold_young(address, look);
    wndl_rt_owner_leave(owner);
    return found;
}

/* ---- all */

void wndl_rt_blocks_follow(const char *flag)
{
    if (flag != NULL && !__atomic_load_n(&is_shared, __ATOMIC_RELAXED))
        __atomic_store_n(&alone, flag, __ATOMIC_RELAXED);
}

void wndl_rt_blocks_share(void)
{
    __atomic_store_n(&is_shared, true, __ATOMIC_RELAXED);
    __atomic_store_n(&alone, &nobody_tells, __ATOMIC_RELAXED);
}

void wndl_rt_blocks_allow_owner(uint32_t after)
{
    wndl_rt_owner_allow(after);
}

void wndl_rt_blocks_forbid_owner(void)
{
    wndl_rt_owner_forbid();
    (void)end_youth();
}

void wndl_rt_blocks_expect(uint64_t address)
{
    const struct entry *e = young_at(address);
    if ((is_alone() || wndl_rt_owner_is_here()) && e->first != 0 &&
        !is_at(e, address))
        expect_old(address_of(e));
    expect_old(address);
}

enum wndl_rt_found wndl_rt_blocks_put(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    return WNDL_RT_LIKELY(is_alone()) ? put_young(block, before)
                                      : put_in_turn(block, before);
}

enum wndl_rt_found wndl_rt_blocks_take(
    uint64_t address, struct wndl_rt_block *block)
{
    return WNDL_RT_LIKELY(is_alone()) ? take_young(address, block)
                                      : take_in_turn(address, block);
}

enum wndl_rt_found wndl_rt_blocks_hold(uint64_t address,
    void (*look)(void *context, struct wndl_rt_block *block), void *context)
{
    const struct look at = {look, context};
    return WNDL_RT_LIKELY(is_alone()) ? hold_young(address, &at)
                                      : hold_in_turn(address, &at);
}

void wndl_rt_blocks_each(
    void (*visit)(void *context, const struct wndl_rt_block *block),
    void *context)
{
    for (struct shard *s = shards; s < shards + SHARDS; s++) {
        if (!lock_shard(s))
            continue;
        for (uint32_t i = 0; i < s->room; i++) {
            if (s->entries[i].first == 0)
                continue;
            struct wndl_rt_block block = unpack(&s->entries[i]);
            visit(context, &block);
        }
        wndl_rt_unlock(&s->lock);
    }
}

/* ---- forks */

/* An owner would not be there in the child: it forks, or there is none. */
static void end_others_youth(void)
{
    if (wndl_rt_owner_is_other() && young_lock.by_fork)
        (void)end_youth_held();
    if (wndl_rt_owner_is_other())
        wndl_rt_blocks_share(); /* or the child would trust its remains */
}

void wndl_rt_blocks_hold_all(void)
{
    wndl_rt_lock_by_fork(&young_lock);
    end_others_youth();
    for (struct shard *s = shards; s < shards + SHARDS; s++)
        wndl_rt_lock_by_fork(&s->lock);
}

void wndl_rt_blocks_leave_all(void)
{
    for (struct shard *s = shards; s < shards + SHARDS; s++)
        wndl_rt_unlock_by_fork(&s->lock);
    wndl_rt_unlock_by_fork(&young_lock);
}

/* ---- marks */

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
