/* SPDX-License-Identifier: MIT */
#include "rt/heap_blocks.h"

#include "os/raw.h"
#include "rt/heap_state.h"
#include "rt/rt.h"

#include <stddef.h>
#include <sys/mman.h>

enum {
    SHARDS = 256,
    REGION_SHIFT = 20,     /* blocks of one region are of one shard */
    FIRST_ROOM = 256,      /* entries: a page */
    LOOSE_ROOM = 8 * 1024, /* up to here shards are only half full */
    SPINS = 100,
    YIELDS = 100,
    SLEEP_NS = 50 * 1000,
    SLEEPS = 60 * 1000, /* counted, for the process may be stopped meanwhile */
    YOUNG = 64,
};

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/*
 * address << 16 | generation << 8 | grown << 7 | time >> 40, and
 * time << 24 | pair. The first is 0 in a free entry.
 */
struct entry {
    uint64_t first, second;
};

struct lock {
    _Atomic uint32_t held;
    _Atomic uint32_t lost;
    bool by_fork; /* held by the thread that forks */
};

/*
 * Open addressing, probed linearly; an entry is moved when one before it is
 * removed, so that a free entry always ends a probe.
 */
struct shard {
    _Alignas(64) struct lock lock;
    uint32_t room; /* entries, 0 at first */
    uint32_t used;
    uint32_t limit; /* of `used`; less than room */
    struct entry *entries;
};

static struct shard shards[SHARDS];

/*
 * Most blocks do not grow old. What a process with one thread has just made is
 * here, by where it is, until another one needs its place: it is in its shard
 * only then, or when there is a second thread. No block is in both.
 */
static _Alignas(64) struct entry young[YOUNG];
static _Atomic bool has_young;
static struct lock young_lock;

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

/* ---- locks */

static bool is_alone(void)
{
    return __atomic_load_n(alone, __ATOMIC_RELAXED) != 0;
}

static bool try_lock(struct lock *l)
{
    return atomic_load_explicit(&l->held, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&l->held, 1, memory_order_acquire) == 0;
}

/* Who holds it may have no CPU just now, or be forking, or be no more. */
static WNDL_RT_NOINLINE bool wait_for(struct lock *l)
{
    if (atomic_load_explicit(&l->lost, memory_order_relaxed) != 0)
        return false;
    for (int i = 0; i < SPINS; i++) {
        if (try_lock(l))
            return true;
        wndl_arch_pause();
    }
    for (int i = 0; i < YIELDS; i++) {
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
        if (try_lock(l))
            return true;
    }
    for (int i = 0; i < SLEEPS; i++) {
        wndl_raw_sleep(SLEEP_NS);
        if (try_lock(l))
            return true;
    }
    atomic_store(&l->lost, 1);
    return false;
}

static inline bool acquire_from_others(struct lock *l)
{
    return WNDL_RT_LIKELY(atomic_exchange_explicit(
                              &l->held, 1, memory_order_acquire) == 0) ||
           wait_for(l);
}

/* An exchange is what takes long here. Who is alone need only look. */
static inline bool acquire(struct lock *l)
{
    if (is_alone() && atomic_load_explicit(&l->held, memory_order_relaxed) == 0)
        return true;
    return acquire_from_others(l);
}

static inline void release(struct lock *l)
{
    atomic_store_explicit(&l->held, 0, memory_order_release);
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

static void remove_at(struct shard *s, struct entry *gone)
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

static enum wndl_rt_found put_at(
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

static enum wndl_rt_found put_old(
    const struct entry *block, struct wndl_rt_block *before)
{
    struct shard *s = shard_of(address_of(block));
    if (!acquire(&s->lock))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found = put_at(s, block, before);
    release(&s->lock);
    return found;
}

static struct entry *find_used(const struct shard *s, uint64_t address)
{
    if (s->room == 0)
        return NULL;
    struct entry *e = find(s, address);
    return e->first == 0 ? NULL : e;
}

static enum wndl_rt_found take_old(
    uint64_t address, struct wndl_rt_block *block)
{
    struct shard *s = shard_of(address);
    if (!acquire(&s->lock))
        return WNDL_RT_BLOCK_LOST;
    struct entry *e = find_used(s, address);
    if (e != NULL) {
        *block = unpack(e);
        remove_at(s, e);
    }
    release(&s->lock);
    return e == NULL ? WNDL_RT_BLOCK_ABSENT : WNDL_RT_BLOCK_FOUND;
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
static bool grow_old(struct entry *e)
{
    struct wndl_rt_block none;
    if (e->first != 0 && put_old(e, &none) == WNDL_RT_BLOCK_LOST)
        return false;
    e->first = 0;
    return true;
}

/* All, which others are to find, too. What has no room to go to is lost. */
static WNDL_RT_NOINLINE void end_youth(void)
{
    bool all = true;
    if (!acquire(&young_lock))
        return;
    for (struct entry *e = young; e < young + YOUNG; e++)
        all &= grow_old(e);
    if (all)
        atomic_store_explicit(&has_young, false, memory_order_release);
    release(&young_lock);
}

/* Whether the thread may look among the young. Else there are none. */
static inline bool may_be_young(void)
{
    if (WNDL_RT_LIKELY(is_alone()))
        return true;
    if (!WNDL_RT_LIKELY(
            !atomic_load_explicit(&has_young, memory_order_acquire)))
        end_youth();
    return false;
}

/* A quick look of who is alone. */
static inline bool may_be_old(uint64_t address)
{
    const struct shard *s = shard_of(address);
    return s->room != 0 && s->entries[home_of(s, address)].first != 0;
}

static inline enum wndl_rt_found put_young(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    struct entry *e = young_at(block->address);
    enum wndl_rt_found found = WNDL_RT_BLOCK_ABSENT;
    if (is_at(e, block->address)) {
        *before = unpack(e);
        found = WNDL_RT_BLOCK_FOUND;
    } else if (!grow_old(e)) {
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

void wndl_rt_blocks_expect(uint64_t address)
{
    const struct entry *e = young_at(address);
    if (is_alone() && e->first != 0 && !is_at(e, address))
        expect_old(address_of(e));
    expect_old(address);
}

enum wndl_rt_found wndl_rt_blocks_put(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    if (may_be_young())
        return put_young(block, before);
    const struct entry entry = pack(block);
    return put_old(&entry, before);
}

/* Who could not be told of one that was young cannot tell. */
static enum wndl_rt_found unless_lost(enum wndl_rt_found found)
{
    return found == WNDL_RT_BLOCK_ABSENT && !is_alone() &&
                   atomic_load_explicit(&has_young, memory_order_relaxed)
               ? WNDL_RT_BLOCK_LOST
               : found;
}

enum wndl_rt_found wndl_rt_blocks_take(
    uint64_t address, struct wndl_rt_block *block)
{
    struct entry *e = young_at(address);
    if (may_be_young() && is_at(e, address)) {
        *block = unpack(e);
        e->first = 0;
        return WNDL_RT_BLOCK_FOUND;
    }
    return unless_lost(take_old(address, block));
}

static void look_at(struct entry *e,
    void (*look)(void *context, struct wndl_rt_block *block), void *context)
{
    struct wndl_rt_block block = unpack(e);
    bool grown = block.grown;
    look(context, &block);
    if (block.grown != grown)
        *e = pack(&block);
}

enum wndl_rt_found wndl_rt_blocks_hold(uint64_t address,
    void (*look)(void *context, struct wndl_rt_block *block), void *context)
{
    struct entry *e = young_at(address);
    if (may_be_young() && is_at(e, address)) {
        look_at(e, look, context);
        return WNDL_RT_BLOCK_FOUND;
    }
    struct shard *s = shard_of(address);
    if (!acquire(&s->lock))
        return WNDL_RT_BLOCK_LOST;
    e = find_used(s, address);
    if (e != NULL)
        look_at(e, look, context);
    release(&s->lock);
    return e == NULL ? WNDL_RT_BLOCK_ABSENT : WNDL_RT_BLOCK_FOUND;
}

void wndl_rt_blocks_each(
    void (*visit)(void *context, const struct wndl_rt_block *block),
    void *context)
{
    end_youth();
    for (struct shard *s = shards; s < shards + SHARDS; s++) {
        if (s->room == 0 || !acquire(&s->lock))
            continue;
        for (uint32_t i = 0; i < s->room; i++) {
            if (s->entries[i].first == 0)
                continue;
            struct wndl_rt_block block = unpack(&s->entries[i]);
            visit(context, &block);
        }
        release(&s->lock);
    }
}

/* ---- forks */

/* Who is alone now may have made another thread before it leaves them. */
static void hold_by_fork(struct lock *l)
{
    l->by_fork = acquire_from_others(l);
}

/* A lost one was held by somebody else. */
static void leave_by_fork(struct lock *l)
{
    if (!l->by_fork)
        return;
    l->by_fork = false;
    release(l);
}

void wndl_rt_blocks_hold_all(void)
{
    hold_by_fork(&young_lock);
    for (struct shard *s = shards; s < shards + SHARDS; s++)
        hold_by_fork(&s->lock);
}

void wndl_rt_blocks_leave_all(void)
{
    for (struct shard *s = shards; s < shards + SHARDS; s++)
        leave_by_fork(&s->lock);
    leave_by_fork(&young_lock);
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
