/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/blocks.h"

#include "os/raw.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks_young.h"
#include "rt/heap/count/owner.h"
#include "rt/heap/count/shards.h"

#include <sys/mman.h>

/* Serializes the end of youth. Acquired before shards' locks. */
static struct wndl_rt_lock young_lock;
static _Atomic bool is_stuck; /* some stayed young when others came */

/* Points to a byte that is 0 unless the process has a single thread, the only
 * one that can change it. */
static const char not_alone;
static const char *alone = &not_alone;
static bool is_shared;

static bool is_alone(void)
{
    return __atomic_load_n(alone, __ATOMIC_RELAXED) != 0;
}

/* ---- with other threads */

static bool grow_old_among_others(struct wndl_rt_entry *e)
{
    if (e->first == 0)
        return true;
    struct wndl_rt_shard *s = wndl_rt_shard_of(wndl_rt_entry_address(e));
    if (!wndl_rt_lock(&s->lock))
        return false;
    bool has_gone = wndl_rt_young_grow_old(e);
    wndl_rt_unlock(&s->lock);
    return has_gone;
}

/*
 * Moves all young blocks to their shards, where others find them. One without
 * room there is lost. False: the owner may still be at work. Under young_lock.
 */
static bool end_youth_held(void)
{
    bool all = true;
    if (!wndl_rt_owner_end())
        return false;
    for (struct wndl_rt_entry *e = wndl_rt_young;
         e < wndl_rt_young + WNDL_RT_YOUNG; e++)
        all &= grow_old_among_others(e);
    wndl_rt_owner_gone();
    atomic_store_explicit(&is_stuck, !all, memory_order_relaxed);
    atomic_store_explicit(&wndl_rt_has_young, false, memory_order_release);
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
static inline bool lock_shard(struct wndl_rt_shard *s)
{
    while (wndl_rt_lock(&s->lock)) {
        if (WNDL_RT_LIKELY(!atomic_load_explicit(
                &wndl_rt_has_young, memory_order_acquire)))
            return true;
        wndl_rt_unlock(&s->lock);
        if (!end_youth())
            return false;
    }
    return false;
}

static void begin_to_own(void)
{
    struct wndl_rt_shard *s = wndl_rt_shards;
    while (s < wndl_rt_shards + WNDL_RT_SHARDS && wndl_rt_lock(&s->lock))
        s++;
    if (s == wndl_rt_shards + WNDL_RT_SHARDS && wndl_rt_owner_begin())
        atomic_store_explicit(&wndl_rt_has_young, true, memory_order_relaxed);
    while (s-- > wndl_rt_shards)
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
    struct wndl_rt_shard *s = wndl_rt_shard_of(block->address);
    const struct wndl_rt_entry entry = wndl_rt_entry_pack(block);
    if (!lock_shard(s))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found = wndl_rt_shard_put(s, &entry, before);
    wndl_rt_unlock(&s->lock);
    if (!WNDL_RT_LIKELY(!wndl_rt_owner_wished()))
        become_owner();
    return found;
}

/* If young blocks are stuck, the answer is not known. */
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
    struct wndl_rt_shard *s = wndl_rt_shard_of(address);
    if (!lock_shard(s))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found = wndl_rt_shard_take(s, address, block);
    wndl_rt_unlock(&s->lock);
    return unless_stuck(found);
}

static enum wndl_rt_found hold_among_others(
    uint64_t address, const struct wndl_rt_look_at *look)
{
    struct wndl_rt_shard *s = wndl_rt_shard_of(address);
    if (!lock_shard(s))
        return WNDL_RT_BLOCK_LOST;
    enum wndl_rt_found found =
        wndl_rt_entry_look(wndl_rt_shard_find_used(s, address), look);
    wndl_rt_unlock(&s->lock);
    return found;
}

/* ---- turns of the owner, or of the only thread: functions of their own, so
 * that no other saves registers for them. */

static WNDL_RT_NOINLINE enum wndl_rt_found put_as_owner(
    const struct wndl_rt_block *block, struct wndl_rt_block *before,
    struct wndl_rt_owner *owner)
{
    enum wndl_rt_found found = wndl_rt_young_put(block, before);
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
    enum wndl_rt_found found = wndl_rt_young_take(address, block);
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
    uint64_t address, const struct wndl_rt_look_at *look)
{
    struct wndl_rt_owner *owner = wndl_rt_owner_enter();
    if (owner == NULL)
        return hold_among_others(address, look);
    enum wndl_rt_found found = wndl_rt_young_hold(address, look);
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
    __atomic_store_n(&alone, &not_alone, __ATOMIC_RELAXED);
}

void wndl_rt_blocks_allow_owner(uint32_t after)
{
    wndl_rt_owner_allow(after);
}

void wndl_rt_blocks_settle(void)
{
    if (atomic_load(&wndl_rt_has_young))
        (void)end_youth();
}

void wndl_rt_blocks_forbid_owner(void)
{
    wndl_rt_owner_forbid();
    (void)end_youth();
}

void wndl_rt_blocks_expect(uint64_t address)
{
    const struct wndl_rt_entry *e = wndl_rt_young_at(address);
    if ((is_alone() || wndl_rt_owner_is_here()) && e->first != 0 &&
        !wndl_rt_entry_is_at(e, address))
        wndl_rt_shard_expect(wndl_rt_entry_address(e));
    wndl_rt_shard_expect(address);
}

enum wndl_rt_found wndl_rt_blocks_put(
    const struct wndl_rt_block *block, struct wndl_rt_block *before)
{
    return WNDL_RT_LIKELY(is_alone()) ? wndl_rt_young_put(block, before)
                                      : put_in_turn(block, before);
}

enum wndl_rt_found wndl_rt_blocks_take(
    uint64_t address, struct wndl_rt_block *block)
{
    return WNDL_RT_LIKELY(is_alone()) ? wndl_rt_young_take(address, block)
                                      : take_in_turn(address, block);
}

enum wndl_rt_found wndl_rt_blocks_hold(uint64_t address,
    void (*look)(void *context, struct wndl_rt_block *block), void *context)
{
    const struct wndl_rt_look_at at = {look, context};
    return WNDL_RT_LIKELY(is_alone()) ? wndl_rt_young_hold(address, &at)
                                      : hold_in_turn(address, &at);
}

/* Calls `visit` with each shard that has entries. */
static void each_shard(
    void (*visit)(struct wndl_rt_shard *s, void *context), void *context)
{
    for (struct wndl_rt_shard *s = wndl_rt_shards;
         s < wndl_rt_shards + WNDL_RT_SHARDS; s++) {
        if (!lock_shard(s))
            continue;
        if (s->room != 0)
            visit(s, context);
        wndl_rt_unlock(&s->lock);
    }
}

struct visit {
    void (*block)(void *context, const struct wndl_rt_block *block);
    void *context;
};

static void visit_blocks(struct wndl_rt_shard *s, void *context)
{
    const struct visit *visit = context;
    for (uint32_t i = 0; i < s->room; i++) {
        if (s->entries[i].first == 0)
            continue;
        struct wndl_rt_block block = wndl_rt_entry_unpack(&s->entries[i]);
        visit->block(visit->context, &block);
    }
}

void wndl_rt_blocks_each(
    void (*visit)(void *context, const struct wndl_rt_block *block),
    void *context)
{
    struct visit all = {visit, context};
    each_shard(visit_blocks, &all);
}

/* ---- large pages */

enum { LARGE_PAGE = 2 << 20 };

/* Memory that shards are moved to, from `next` on. */
struct place {
    uint8_t *start, *end, *next;
};

static struct place gathered; /* the last */
static _Atomic bool is_gathering;

static bool is_in(const struct place *place, const void *address)
{
    const uint8_t *byte = address;
    return byte >= place->start && byte < place->end;
}

struct sizes {
    size_t all, gathered;
};

static void add_size(struct wndl_rt_shard *s, void *context)
{
    struct sizes *sizes = context;
    const size_t size = wndl_rt_shard_bytes(s);
    sizes->all += size;
    sizes->gathered += is_in(&gathered, s->entries) ? size : 0;
}

static void move_there(struct wndl_rt_shard *s, void *context)
{
    struct place *to = context;
    const size_t size = wndl_rt_shard_bytes(s);
    if (size > (size_t)(to->end - to->next))
        return;
    wndl_rt_shard_move(s, to->next);
    to->next += size;
}

/* Room for `size` bytes, from the start of a large page on. */
static bool find_place(size_t size, struct place *place)
{
    const size_t mapped = size + LARGE_PAGE;
    uint8_t *memory = wndl_rt_map_undumped(mapped);
    if (memory == NULL)
        return false;
    const size_t before = -(uintptr_t)memory % LARGE_PAGE;
    if (before != 0)
        wndl_raw_unmap(memory, before);
    place->start = place->next = memory + before;
    place->end = memory + mapped;
    (void)wndl_raw3(SYS_madvise, (long)place->start,
        (long)(place->end - place->start), MADV_HUGEPAGE);
    return true;
}

static void gather(void)
{
    struct sizes sizes = {0};
    struct place place;
    each_shard(add_size, &sizes);
    if (sizes.all < LARGE_PAGE || sizes.gathered > sizes.all / 2 ||
        !find_place(sizes.all, &place))
        return;
    each_shard(move_there, &place);
    if (place.next < place.end)
        wndl_raw_unmap(place.next, (size_t)(place.end - place.next));
    place.end = place.next;
    gathered = place;
}

void wndl_rt_blocks_gather(void)
{
    if (wndl_rt_is_careful() || atomic_exchange(&is_gathering, true))
        return;
    gather();
    atomic_store(&is_gathering, false);
}

/* ---- forks */

/* Ends the turns of an owner that does not fork: the child would lack it. */
static void end_others_youth(void)
{
    if (wndl_rt_owner_is_other() && young_lock.by_fork)
        (void)end_youth_held();
    if (wndl_rt_owner_is_other())
        wndl_rt_blocks_share(); /* or the child trusts its remains */
}

void wndl_rt_blocks_hold_all(void)
{
    wndl_rt_lock_by_fork(&young_lock);
    end_others_youth();
    for (struct wndl_rt_shard *s = wndl_rt_shards;
         s < wndl_rt_shards + WNDL_RT_SHARDS; s++)
        wndl_rt_lock_by_fork(&s->lock);
}

void wndl_rt_blocks_leave_all(void)
{
    for (struct wndl_rt_shard *s = wndl_rt_shards;
         s < wndl_rt_shards + WNDL_RT_SHARDS; s++)
        wndl_rt_unlock_by_fork(&s->lock);
    wndl_rt_unlock_by_fork(&young_lock);
}
