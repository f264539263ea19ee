/* SPDX-License-Identifier: MIT */
#include "rt/heap.h"

#include "os/raw.h"
#include "rt/heap_growth.h"
#include "rt/heap_imports.h"
#include "rt/heap_leaks.h"
#include "rt/heap_pairs.h"
#include "rt/heap_record.h"
#include "rt/heap_thread.h"
#include "rt/rt.h"

#include <sys/mman.h>

enum {
    TICK_SHIFT = 6,
    EARLY = 512,
    BYPASSES = 64 * 1024,
    PAGE = 4096,
    COMPARED = 64,    /* bytes of both ends of a copy */
    LEAST_COPIED = 16 /* bytes: what is smaller is equal by chance */
};

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* So that what is done often need not save registers for what is not. */
#define NOINLINE __attribute__((noinline))

/*
 * `shared` is NULL while nothing is recorded. In a page of its own, which a
 * child that is forked behind the libc's back finds empty: the shared memory
 * is its parent's.
 */
struct heap {
    struct wndl_heap *shared;
    struct wndl_rt_pairs pairs;
    uint64_t sample_below; /* bytes; 0: every block is taken */
    bool cumulative;
    bool leaks; /* to be looked for */
};

static struct heap none;
static struct heap *heap = &none;

/* Of the process: its forefathers' blocks are still in the table. */
static uint8_t generation;

/* There may be blocks that nobody has heard of. */
static bool unsure;

static __thread struct {
    struct wndl_rt_heap_thread *self;
    volatile bool busy;
} here;

/* ---- what passes by */

/* Blocks from before the recording. */
static _Atomic uintptr_t early[EARLY];
static uint32_t early_sizes[EARLY];
static _Atomic uint32_t early_count;
static uintptr_t early_high; /* no other is above this */
static bool begun;

/* By where they are: whether births or deaths of blocks may have passed by. */
enum { PASSED_BIRTH = 1, PASSED_DEATH = 2 };
static _Atomic uint8_t bypasses[BYPASSES];

static _Atomic uint8_t *bypass_of(uintptr_t block)
{
    return &bypasses[(block >> 4) % BYPASSES];
}

static void add_early(void *block, size_t usable)
{
    uint32_t at = atomic_fetch_add(&early_count, 1);
    if ((uintptr_t)block > early_high)
        early_high = (uintptr_t)block;
    if (at >= EARLY) {
        unsure = true;
        return;
    }
    early_sizes[at] = (uint32_t)usable;
    atomic_store(&early[at], (uintptr_t)block);
}

/* Most of the others are above them. */
static bool take_early(void *block)
{
    if (heap->shared == NULL || (uintptr_t)block > early_high)
        return false;
    uint32_t count = atomic_load_explicit(&early_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count && i < EARLY; i++) {
        uintptr_t expected = (uintptr_t)block;
        if (atomic_load_explicit(&early[i], memory_order_relaxed) == expected)
            return atomic_compare_exchange_strong(&early[i], &expected, 0);
    }
    return false;
}

void wndl_rt_heap_passed(void *block, size_t requested, size_t usable)
{
    if (block == NULL)
        return;
    if (heap->shared == NULL) {
        if (!begun)
            add_early(block, usable);
        return;
    }
    struct wndl_rt_lane lane = wndl_rt_lane_shared(heap->shared);
    wndl_rt_lane_miss(
        &lane, here.busy ? WNDL_HEAP_MISS_NESTED : WNDL_HEAP_MISS_NO_THREAD);
    atomic_fetch_or_explicit(
        bypass_of((uintptr_t)block), PASSED_BIRTH, memory_order_relaxed);
    wndl_rt_lane_born(&lane, &(struct wndl_rt_sizes){requested, usable});
}

void wndl_rt_heap_passed_free(const struct wndl_rt_allocator *real, void *block)
{
    if (block == NULL || take_early(block) || heap->shared == NULL)
        return;
    struct wndl_rt_lane lane = wndl_rt_lane_shared(heap->shared);
    atomic_fetch_or_explicit(
        bypass_of((uintptr_t)block), PASSED_DEATH, memory_order_relaxed);
    wndl_rt_lane_died(&lane, real->usable(block));
}

/* ---- in and out */

static struct wndl_rt_heap_thread *enter_slowly(void)
{
    if (here.busy || heap->shared == NULL)
        return NULL;
    here.busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (here.self == NULL)
        here.self = wndl_rt_heap_thread_take(heap->shared);
    if (here.self == NULL)
        here.busy = false;
    return here.self;
}

struct wndl_rt_heap_thread *wndl_rt_heap_enter(void)
{
    struct wndl_rt_heap_thread *t = here.self;
    if (!LIKELY(t != NULL && !here.busy && heap->shared != NULL))
        return enter_slowly();
    here.busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    return t;
}

void wndl_rt_heap_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    here.busy = false;
}

void wndl_rt_heap_end_thread(void)
{
    struct wndl_rt_heap_thread *t = here.self;
    if (t == NULL || here.busy)
        return;
    here.busy = true;
    here.self = NULL;
    wndl_rt_heap_thread_leave(t);
    here.busy = false;
}

/* ---- counting deaths */

static uint64_t now(void)
{
    return __builtin_ia32_rdtsc() >> TICK_SHIFT;
}

static void count_together(uint32_t *after, uint32_t *times, uint32_t before)
{
    if (before == 0)
        return;
    if (*after == 0)
        *after = before;
    if (*after == before)
        ++*times;
}

static bool is_inherited(const struct wndl_rt_death *death)
{
    return death->kind == WNDL_RT_DEATH_IN_PAIR &&
           death->block.generation != generation;
}

/* Of 47 bits: the clock may have gone past their end. */
static uint64_t lifetime_of(const struct wndl_rt_block *block)
{
    const uint64_t mask = (UINT64_C(1) << 47) - 1;
    return heap->cumulative ? (now() - block->time) & mask : 0;
}

static NOINLINE void count_death_in_pair(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *block)
{
    uint32_t pair = block->pair;
    struct wndl_heap_count *c = &t->lane.counts[pair];
    wndl_rt_lane_died(&t->lane, heap->pairs.pairs[pair].usable - 1);
    wndl_rt_pair_died(&t->lane, pair, lifetime_of(block));
    if (t->last == block->address)
        wndl_rt_lane_add(&t->lane, &c->temporary, 1);
    if (heap->cumulative && !t->lane.shared)
        count_together(&c->freed_after, &c->freed_after_times, t->freed);
    t->freed = pair + 1;
}

static void count_death(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_death *death)
{
    uint64_t address = death->block.address;
    if (death->kind == WNDL_RT_DEATH_IN_NONE)
        wndl_rt_lane_died(&t->lane, death->usable);
    else if (is_inherited(death))
        atomic_fetch_add(&heap->shared->inherited, 1);
    else if (death->kind == WNDL_RT_DEATH_IN_PAIR)
        count_death_in_pair(t, &death->block);
    if (t->last == address) {
        wndl_rt_lane_add(&t->lane, &t->lane.totals->temporary, 1);
        t->last = 0;
    }
    atomic_store_explicit(&t->freed_last[t->freed_next++ % WNDL_RT_FREED],
        address, memory_order_relaxed);
}

/* ---- born */

/* With probability size / sample_below. */
static bool is_taken(struct wndl_rt_heap_thread *t, size_t size)
{
    uint64_t x = t->random;
    if (size >= heap->sample_below)
        return true;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    t->random = x;
    return ((x >> 32) * heap->sample_below) >> 32 < (size == 0 ? 1 : size);
}

/* Plus one; 0 when there is no room. */
static uint32_t find_pair(
    struct wndl_rt_heap_thread *t, const struct wndl_heap_pair *p)
{
    uint32_t at = (p->node + (uint32_t)p->requested * UINT32_C(0x9e3779b1)) %
                  WNDL_RT_RECENT_PAIRS;
    struct wndl_heap_pair *known = &t->recent[at].pair;
    if (LIKELY(known->node == p->node && known->requested == p->requested &&
               known->usable == p->usable && known->end == p->end))
        return t->recent[at].number;
    uint32_t number = wndl_rt_pairs_find(&heap->pairs, p);
    if (number == 0)
        return 0;
    *known = *p;
    t->recent[at].number = number;
    return number;
}

/* The block's pair plus one, or 0, which is counted. */
static uint32_t pair_of(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_birth *birth)
{
    struct wndl_heap_pair pair = {
        .requested = birth->requested,
        .usable = birth->usable + 1,
        .end = WNDL_END_NO_RULE,
    };
    enum wndl_loss loss = wndl_rt_heap_stack(t, birth->regs, &pair);
    if (loss == WNDL_LOSS_NO_STACK)
        pair.node = 0;
    else if (loss != 0) {
        wndl_rt_lane_miss(&t->lane, WNDL_HEAP_MISS_TREE_FULL);
        return 0;
    }
    uint32_t number = find_pair(t, &pair);
    if (number == 0)
        wndl_rt_lane_miss(&t->lane, WNDL_HEAP_MISS_PAIRS_FULL);
    return number;
}

/* Its death was not seen, or passed by and is in the totals already. */
static void end_missed(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *block)
{
    struct wndl_rt_death death = {
        .kind = WNDL_RT_DEATH_IN_PAIR, .block = *block};
    uint8_t passed = atomic_load_explicit(
        bypass_of((uintptr_t)block->address), memory_order_relaxed);
    if ((passed & PASSED_DEATH) != 0 && !is_inherited(&death))
        wndl_rt_pair_died(&t->lane, block->pair, lifetime_of(block));
    else
        count_death(t, &death);
}

/* False: it could not be remembered. */
static bool remember(
    struct wndl_rt_heap_thread *t, const void *address, uint32_t pair)
{
    const struct wndl_rt_block block = {
        .address = (uintptr_t)address,
        .time = heap->cumulative ? now() : 0,
        .pair = pair,
        .generation = generation,
    };
    struct wndl_rt_block before;
    enum wndl_rt_found found = wndl_rt_blocks_put(&block, &before);
    if (found == WNDL_RT_BLOCK_LOST) {
        wndl_rt_lane_miss(&t->lane, WNDL_HEAP_MISS_MEMORY);
        return false;
    }
    if (heap->sample_below != 0)
        wndl_rt_blocks_mark((uintptr_t)address);
    if (found == WNDL_RT_BLOCK_FOUND)
        end_missed(t, &before);
    return true;
}

static void count_born(struct wndl_rt_heap_thread *t, uint32_t pair)
{
    struct wndl_heap_count *c = &t->lane.counts[pair];
    wndl_rt_pair_born(&t->lane, pair);
    if (heap->cumulative && !t->lane.shared)
        count_together(&c->born_after, &c->born_after_times, t->born);
}

static void note_born(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_birth *birth, uint32_t number)
{
    const struct wndl_rt_sizes sizes = {birth->requested, birth->usable};
    wndl_rt_lane_born(&t->lane, &sizes);
    t->last = (uintptr_t)birth->block;
    t->last_size = birth->requested;
    t->born = number;
}

static NOINLINE void born_in_pair(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_birth *birth)
{
    uintptr_t block = (uintptr_t)birth->block;
    wndl_rt_blocks_expect(block);
    uint32_t number = pair_of(t, birth);
    if (number != 0 && !remember(t, birth->block, number - 1))
        number = 0;
    if (number != 0)
        count_born(t, number - 1);
    else
        atomic_fetch_or_explicit(
            bypass_of(block), PASSED_BIRTH, memory_order_relaxed);
    note_born(t, birth, number);
}

void wndl_rt_heap_born(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_birth *birth)
{
    if (heap->sample_below == 0 || is_taken(t, birth->requested))
        born_in_pair(t, birth);
    else if (!birth->is_told)
        note_born(t, birth, 0);
}

/* ---- taken */

/* Whether a block that is in no pair may be one that passed by. */
static bool may_be_known(const void *block)
{
    return heap->sample_below != 0 ||
           atomic_load_explicit(
               bypass_of((uintptr_t)block), memory_order_relaxed) != 0;
}

static enum wndl_rt_found take_from_pair(void *block, struct wndl_rt_death *d)
{
    uintptr_t address = (uintptr_t)block;
    bool sampled = heap->sample_below != 0;
    if (sampled && !wndl_rt_blocks_maybe(address))
        return WNDL_RT_BLOCK_ABSENT;
    enum wndl_rt_found found = wndl_rt_blocks_take(address, &d->block);
    if (sampled && found == WNDL_RT_BLOCK_FOUND)
        wndl_rt_blocks_unmark(address);
    return found;
}

void wndl_rt_heap_take(const struct wndl_rt_allocator *real, void *block,
    struct wndl_rt_death *death)
{
    enum wndl_rt_found found = take_from_pair(block, death);
    if (found == WNDL_RT_BLOCK_FOUND) {
        death->kind = WNDL_RT_DEATH_IN_PAIR;
        return;
    }
    death->block.address = (uintptr_t)block;
    if (take_early(block))
        death->kind = WNDL_RT_DEATH_EARLY;
    else if (found == WNDL_RT_BLOCK_ABSENT && !may_be_known(block))
        death->kind = WNDL_RT_DEATH_UNKNOWN;
    else {
        death->kind = WNDL_RT_DEATH_IN_NONE;
        death->usable = real->usable(block);
    }
}

void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_death *death)
{
    struct wndl_rt_block before;
    if (death->kind == WNDL_RT_DEATH_EARLY)
        unsure = true;
    if (death->kind != WNDL_RT_DEATH_IN_PAIR)
        return;
    if (wndl_rt_blocks_put(&death->block, &before) == WNDL_RT_BLOCK_LOST)
        count_death(t, death);
    else if (heap->sample_below != 0)
        wndl_rt_blocks_mark(death->block.address);
}

/* ---- growth */

static void count_growth(
    struct wndl_rt_heap_thread *t, uint64_t from, bool by_copy, bool is_first)
{
    const struct wndl_heap_pair *larger = &heap->pairs.pairs[t->born - 1];
    /* A chain whose smaller blocks are taken by chance is none. */
    if (larger->node == 0 || heap->sample_below != 0)
        return;
    wndl_rt_heap_grown(heap->shared, &(struct wndl_rt_growth){
                                         .node = larger->node,
                                         .by_copy = by_copy,
                                         .is_first = is_first,
                                         .from = from,
                                         .to = larger->requested,
                                     });
}

static void set_grown(void *context, struct wndl_rt_block *block)
{
    (void)context;
    block->grown = true;
}

void wndl_rt_heap_regrown(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_death *smaller)
{
    if (smaller->kind != WNDL_RT_DEATH_IN_PAIR || is_inherited(smaller) ||
        t->born == 0)
        return;
    uint64_t from = heap->pairs.pairs[smaller->block.pair].requested;
    if (from >= t->last_size)
        return;
    if (wndl_rt_blocks_hold(t->last, set_grown, NULL) == WNDL_RT_BLOCK_FOUND)
        count_growth(t, from, false, !smaller->block.grown);
}

/* Blocks belong to the program, whatever it keeps in them. */
struct word {
    uint64_t v;
} __attribute__((packed, may_alias));

static uint64_t load(const uint8_t *at)
{
    return ((const struct word *)(const void *)at)->v;
}

/* `size` is at least 8. */
static bool is_equal(
    const uint8_t *a, const uint8_t *b, size_t size, uint64_t *any)
{
    for (size_t at = 0;; at += sizeof(uint64_t)) {
        if (at + sizeof(uint64_t) > size)
            at = size - sizeof(uint64_t);
        uint64_t word = load(a + at);
        *any |= word;
        if (word != load(b + at))
            return false;
        if (at + sizeof(uint64_t) == size)
            return true;
    }
}

/* Whether a block holds what is in a smaller one. */
struct copy {
    const uint8_t *from, *to;
    size_t size;   /* of the smaller one */
    uint32_t pair; /* of the larger one */
    bool may_have_pages;
    bool found;
};

/* Whole pages of a block may be protected from being read. */
static bool read_ends(
    const struct copy *c, size_t end, uint8_t ends[2 * COMPARED])
{
    const struct iovec to = {ends, 2 * end};
    const struct iovec from[] = {
        {(void *)(uintptr_t)c->to, end},
        {(void *)(uintptr_t)(c->to + c->size - end), end},
    };
    const long a[] = {wndl_rt.pid, (long)&to, 1, (long)from};
    return !wndl_rt_is_careful() &&
           wndl_raw6(SYS_process_vm_readv, a, 2, 0) == (long)(2 * end);
}

/* The address may be another block's by now. */
static void look_for_copy(void *context, struct wndl_rt_block *block)
{
    struct copy *c = context;
    size_t end = c->size < COMPARED ? c->size : COMPARED;
    size_t rest = c->size - end;
    uint8_t ends[2 * COMPARED];
    const uint8_t *head = c->to, *tail = c->to + rest;
    uint64_t any = 0;
    if (block->pair != c->pair)
        return;
    if (c->may_have_pages) {
        if (!read_ends(c, end, ends))
            return;
        head = ends;
        tail = ends + end;
    }
    c->found = is_equal(c->from, head, end, &any) &&
               is_equal(c->from + rest, tail, end, &any) && any != 0;
    if (c->found)
        block->grown = true;
}

/* What grows by more than by doubling does not grow just enough. */
static NOINLINE void look_for_growth(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *smaller)
{
    struct copy copy = {
        .from = (const uint8_t *)(uintptr_t)smaller->address,
        .to = (const uint8_t *)(uintptr_t)t->last,
        .size = (size_t)heap->pairs.pairs[smaller->pair].requested,
        .pair = t->born - 1,
        .may_have_pages = t->last_size >= PAGE,
    };
    if (t->last % 2 != 0 || t->last == 0 || t->born == 0 ||
        copy.size < LEAST_COPIED || copy.size >= t->last_size ||
        t->last_size - copy.size > copy.size || t->last == smaller->address ||
        heap->shared->own_allocator != 0)
        return;
    if (wndl_rt_blocks_hold(t->last, look_for_copy, &copy) ==
            WNDL_RT_BLOCK_FOUND &&
        copy.found)
        count_growth(t, copy.size, true, !smaller->grown);
}

/* ---- freed */

static NOINLINE void tell_wrong(struct wndl_rt_heap_thread *t, uint64_t address,
    const struct wndl_regs *regs)
{
    struct wndl_heap_pair stack = {0};
    if (unsure || heap->sample_below != 0 ||
        wndl_rt_heap_stack(t, regs, &stack) != 0 || stack.node == 0)
        return;
    wndl_rt_heap_wrong(heap->shared, stack.node,
        wndl_rt_heap_threads_freed(address) ? WNDL_HEAP_WRONG_TWICE
                                            : WNDL_HEAP_WRONG_FOREIGN,
        address);
}

void wndl_rt_heap_freed(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_death *death, const struct wndl_regs *regs)
{
    if (death->kind == WNDL_RT_DEATH_UNKNOWN)
        tell_wrong(t, death->block.address, regs);
    else if (death->kind == WNDL_RT_DEATH_IN_PAIR && !is_inherited(death))
        look_for_growth(t, &death->block);
    count_death(t, death);
}

void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_death *death, const struct wndl_regs *regs)
{
    if (death->kind == WNDL_RT_DEATH_UNKNOWN)
        tell_wrong(t, death->block.address, regs);
    wndl_rt_lane_add(&t->lane, &t->lane.totals->reallocs, 1);
    count_death(t, death);
}

void wndl_rt_heap_told_end(struct wndl_rt_heap_thread *t, void *block)
{
    struct wndl_rt_death death = {.kind = WNDL_RT_DEATH_IN_PAIR};
    if (take_from_pair(block, &death) == WNDL_RT_BLOCK_FOUND)
        count_death(t, &death);
}

/* ---- the process */

struct wndl_heap *wndl_rt_heap_shared(void)
{
    return heap->shared;
}

size_t wndl_rt_heap_shared_size(const struct wndl_go *go)
{
    if ((go->heap & WNDL_HEAP_ON) == 0 || go->heap_pairs == 0)
        return wndl_shm_size();
    return wndl_heap_offset() + wndl_heap_layout(go->heap_pairs).size;
}

static struct heap *map_private(void)
{
    size_t size = wndl_heap_up(sizeof(struct heap));
    struct heap *h = (void *)wndl_rt_map_undumped(size);
    if (h != NULL)
        (void)wndl_raw3(SYS_madvise, (long)h, (long)size, MADV_WIPEONFORK);
    return h;
}

static void find_tables(struct wndl_heap *shared, uint32_t pairs)
{
    uint8_t *memory = (uint8_t *)shared;
    struct wndl_heap_layout layout = wndl_heap_layout(pairs);
    heap->pairs = (struct wndl_rt_pairs){
        .pairs = (void *)(memory + layout.pairs),
        .index = (void *)(memory + layout.index),
        .count = &shared->pair_count,
        .max = pairs,
    };
}

void wndl_rt_heap_settle(void)
{
    begun = true;
}

/* The last store makes all that was stored before it known. */
void wndl_rt_heap_start(const struct wndl_go *go)
{
    if ((go->heap & WNDL_HEAP_ON) == 0 || go->heap_pairs == 0)
        return;
    if (heap == &none) {
        struct heap *mapped = map_private();
        if (mapped == NULL)
            return;
        heap = mapped;
    }
    struct wndl_heap *shared =
        (void *)((uint8_t *)wndl_rt.shm + wndl_heap_offset());
    find_tables(shared, go->heap_pairs);
    heap->sample_below = go->heap_sample_below;
    heap->cumulative = (go->heap & WNDL_HEAP_CUMULATIVE) != 0;
    heap->leaks = (go->heap & WNDL_HEAP_LEAKS) != 0;
    shared->start_tsc = __builtin_ia32_rdtsc();
    shared->start_time = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&heap->shared, shared, __ATOMIC_RELEASE);
    shared->own_allocator = wndl_rt_heap_lead_imports();
    unsure = unsure || shared->own_allocator;
}

void wndl_rt_heap_unload(bool begins)
{
    wndl_rt_imports_unload(begins);
}

/* ---- the end */

/* Of blocks that were not taken nothing is known: they may point to others. */
static void find_leaks(void)
{
    struct wndl_heap *shared = heap->shared;
    struct wndl_heap_layout layout = wndl_heap_layout(shared->pairs);
    struct wndl_rt_root roots[EARLY];
    const struct wndl_rt_leak_search search = {
        .pairs = heap->pairs.pairs,
        .leaks = (void *)((uint8_t *)shared + layout.leaks),
        .generation = generation,
        .sp = (uintptr_t)__builtin_frame_address(0),
    };
    size_t count = 0;
    for (uint32_t i = 0; i < EARLY && i < atomic_load(&early_count); i++)
        roots[count++] = (struct wndl_rt_root){early[i], early_sizes[i]};
    if (wndl_rt_heap_find_leaks(&search, roots, count))
        atomic_store(&shared->leaks_known, 1);
}

/* What is live at the end may be the peak. */
__attribute__((destructor)) static void finish(void)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return;
    wndl_rt_lane_note_peak(&t->lane);
    if (heap->leaks && heap->sample_below == 0)
        find_leaks();
    wndl_rt_heap_leave();
}

/* ---- fork */

void wndl_rt_heap_before_fork(void)
{
    if (heap != &none && heap->shared == NULL)
        unsure = true;
    here.busy = true;
    wndl_rt_blocks_hold_all();
}

void wndl_rt_heap_after_fork_in_parent(void)
{
    wndl_rt_blocks_leave_all();
    here.busy = false;
}

void wndl_rt_heap_after_fork_in_child(void)
{
    wndl_rt_blocks_leave_all();
    heap->shared = NULL;
    generation++;
    here.self = NULL;
    wndl_rt_heap_threads_forget();
    wndl_rt_heap_told_after_fork();
    wndl_rt_imports_after_fork();
    here.busy = false;
}
