/* SPDX-License-Identifier: MIT */
#include "rt/heap_leaks.h"

#include "os/dlfind.h"
#include "os/maps.h"
#include "os/raw.h"
#include "rt/arch.h"
#include "rt/heap_blocks.h"
#include "rt/heap_thread.h"
#include "rt/rt.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
    DIGIT_BITS = 12, /* of an address, sorted by four of them */
    DIGITS = 1 << DIGIT_BITS,
    BUCKETS = 1 << 16, /* of addresses, to begin a search in */
    COPIED = 64 * 1024,
    RESERVED = 512,
    THREAD_STRUCT = 4096,     /* bytes above the thread pointer, at most */
    STATIC_TLS = 256 * 1024,  /* and below it */
    LEAST_MAPPED = 64 * 1024, /* blocks that have a mapping of their own */
    PAGE = 4096,
};

enum state { UNREACHED, POSSIBLE, REACHED, INDIRECT, DEFINITE };

struct block {
    uint64_t address : 48;
    uint64_t state : 8;  /* enum state */
    uint64_t own : 8;    /* not inherited */
    uint32_t pair, size; /* usable bytes, or the most that fits */
};

_Static_assert(sizeof(struct block) >= 2 * sizeof(uint32_t),
    "pending blocks take the room that sorting took");

struct area {
    uintptr_t start, end;
    bool is_heap;         /* an allocator's, or ours */
    size_t first, behind; /* blocks in it */
};

/* All memory of a search is one mapping. */
struct search {
    const struct wndl_rt_leak_search *wanted;
    struct block *blocks, *other; /* by address when sorted; room for that */
    size_t count, room;
    /* Blocks to be looked into, twice at most: as possible, and as reached.
     * In the place of `other`, when all is sorted. */
    uint32_t *pending;
    size_t pending_count;
    struct area *areas;
    size_t area_count, area_room;
    uint32_t *buckets; /* the first block of each, and one more */
    uintptr_t low, high;
    unsigned shift;
    uintptr_t *copied;
    uint8_t *memory;
    size_t size;
    enum state following; /* what is found now becomes */
    size_t leader;        /* DEFINITE: whose clique is followed */
};

/* ---- what there is */

static void count_one(void *context, const struct wndl_rt_block *block)
{
    (void)block;
    ++*(size_t *)context;
}

static void keep_one(void *context, const struct wndl_rt_block *b)
{
    struct search *s = context;
    /* What the program told of is a part of something else. */
    if (s->count == s->room || b->address % 2 != 0)
        return;
    uint64_t size = s->wanted->pairs[b->pair].usable - 1;
    bool own = b->generation == s->wanted->generation;
    s->blocks[s->count++] = (struct block){
        .address = b->address,
        .own = own,
        .pair = b->pair,
        /* Pairs of the process before are not known: the block may end with
         * its page. */
        .size = !own ? sizeof(uintptr_t)
                     : (uint32_t)(size < UINT32_MAX ? size : UINT32_MAX),
    };
}

static void sort_by(struct search *s, unsigned shift)
{
    uint32_t *at = s->buckets;
    memset(at, 0, (DIGITS + 1) * sizeof *at);
    for (size_t i = 0; i < s->count; i++)
        at[(s->blocks[i].address >> shift) % DIGITS + 1]++;
    for (size_t i = 0; i < DIGITS; i++)
        at[i + 1] += at[i];
    for (size_t i = 0; i < s->count; i++)
        s->other[at[(s->blocks[i].address >> shift) % DIGITS]++] = s->blocks[i];
    struct block *sorted = s->other;
    s->other = s->blocks;
    s->blocks = sorted;
}

static void fill_buckets(struct search *s)
{
    s->low = (uintptr_t)s->blocks[0].address;
    const struct block *last = &s->blocks[s->count - 1];
    s->high = (uintptr_t)last->address + last->size + 1;
    while ((s->high - s->low) >> s->shift >= BUCKETS)
        s->shift++;
    size_t next = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t bucket = (size_t)(s->blocks[i].address - s->low) >> s->shift;
        while (next <= bucket)
            s->buckets[next++] = (uint32_t)i;
    }
    while (next <= BUCKETS)
        s->buckets[next++] = (uint32_t)s->count;
}

/* The last block that begins at or before `address`; there is one. */
static struct block *block_before(const struct search *s, uintptr_t address)
{
    size_t bucket = (address - s->low) >> s->shift;
    size_t low = s->buckets[bucket], high = s->buckets[bucket + 1];
    if (low == high || s->blocks[low].address > address)
        return low == 0 ? NULL : &s->blocks[low - 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->blocks[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    return &s->blocks[low];
}

/* ---- following */

static void push(struct search *s, struct block *b, enum state state)
{
    b->state = state;
    s->pending[s->pending_count++] = (uint32_t)(b - s->blocks);
}

static void reach(struct search *s, struct block *b, bool surely)
{
    switch (s->following) {
    case REACHED:
        if (surely && b->state < REACHED)
            push(s, b, REACHED);
        else if (b->state == UNREACHED)
            push(s, b, POSSIBLE);
        return;
    case POSSIBLE:
        if (b->state == UNREACHED)
            push(s, b, POSSIBLE);
        return;
    default:
        if (b->state == UNREACHED)
            push(s, b, INDIRECT);
        else if (b->state == DEFINITE && b != &s->blocks[s->leader])
            b->state = INDIRECT;
    }
}

/*
 * The last word of what can be used of a block may be the allocator's: glibc
 * points to it as the start of the next one, when that is free.
 */
static void look_at(struct search *s, uintptr_t word)
{
    if (word - s->low >= s->high - s->low)
        return;
    struct block *b = block_before(s, word);
    if (b == NULL)
        return;
    uintptr_t into = word - (uintptr_t)b->address;
    if (into == 0)
        reach(s, b, true);
    else if (into < b->size && into != b->size - sizeof word)
        reach(s, b, false);
}

/* Copied by the kernel, which tells what cannot be read. */
static size_t copy(struct search *s, uintptr_t from, size_t size)
{
    struct iovec to = {s->copied, size < COPIED ? size : COPIED};
    struct iovec part = {(void *)from, to.iov_len};
    const long a[] = {wndl_rt.pid, (long)&to, 1, (long)&part};
    long got = wndl_raw6(SYS_process_vm_readv, a, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

static void look_into(struct search *s, uintptr_t start, uintptr_t end)
{
    start = (start + sizeof start - 1) & ~(uintptr_t)(sizeof start - 1);
    while (start < end) {
        size_t got = copy(s, start, end - start) / sizeof start;
        if (got == 0) {
            start = (start | 4095) + 1;
            continue;
        }
        for (size_t i = 0; i < got; i++)
            look_at(s, s->copied[i]);
        start += got * sizeof start;
    }
}

static void follow(struct search *s)
{
    while (s->pending_count > 0) {
        const struct block *b = &s->blocks[s->pending[--s->pending_count]];
        if (s->following == REACHED || s->following == POSSIBLE)
            s->following = b->state;
        uintptr_t start = (uintptr_t)b->address;
        look_into(s, start, start + b->size);
    }
}

static void root(struct search *s, uintptr_t start, uintptr_t end)
{
    s->following = REACHED;
    look_into(s, start, end);
    follow(s);
}

/* ---- roots */

static bool keep_area(void *context, const struct wndl_mapping *m)
{
    struct search *s = context;
    uintptr_t shared = (uintptr_t)wndl_rt.shm;
    uintptr_t start = (uintptr_t)m->start, end = (uintptr_t)m->end;
    if (!m->readable || !m->writable)
        return true;
    if (s->area_count == s->area_room)
        return false;
    if (wndl_bytes_is(m->path, "[stack]") && s->wanted->sp >= start &&
        s->wanted->sp < end)
        start = s->wanted->sp;
    s->areas[s->area_count++] = (struct area){
        .start = start,
        .end = end,
        .is_heap =
            wndl_bytes_is(m->path, "[heap]") ||
            (start < shared + wndl_rt.shared_size && shared < end) ||
            (start <= (uintptr_t)s->memory && (uintptr_t)s->memory < end) ||
            wndl_rt_heap_threads_are_in(start, end),
    };
    return true;
}

/* Beside it the mapping may hold what is none of the allocator's. */
static bool is_mapped_alone(const struct block *b)
{
    return b->size >= LEAST_MAPPED && b->address % PAGE <= 64;
}

/* Both are sorted by address. */
static void mark_heap_areas(struct search *s)
{
    size_t at = 0;
    for (size_t i = 0; i < s->area_count; i++) {
        struct area *a = &s->areas[i];
        while (at < s->count && s->blocks[at].address < a->start)
            at++;
        a->first = at;
        for (; at < s->count && s->blocks[at].address < a->end; at++)
            a->is_heap |= !is_mapped_alone(&s->blocks[at]);
        a->behind = at;
    }
}

static void root_around_blocks(struct search *s, const struct area *a)
{
    uintptr_t start = a->start;
    for (size_t i = a->first; i < a->behind; i++) {
        const struct block *b = &s->blocks[i];
        root(s, start, (uintptr_t)b->address);
        start = (uintptr_t)b->address + b->size;
    }
    root(s, start, a->end);
}

/* What follows a module's data in the same mapping may be a heap. */
static void root_in_heap(struct search *s, const struct area *a)
{
    struct wndl_dlmodule module;
    uintptr_t tp = (uintptr_t)wndl_arch_thread_pointer();
    if (wndl_dlfind(a->start, &module))
        root(s, a->start, (uintptr_t)module.map_end);
    if (tp < a->start || tp >= a->end)
        return;
    bool whole = tp - a->start < STATIC_TLS;
    root(s, whole ? a->start : tp - STATIC_TLS, tp + THREAD_STRUCT);
}

static void root_of_thread(void *context, const struct wndl_stack_range *stack)
{
    struct search *s = context;
    if (s->wanted->sp < stack->low || s->wanted->sp >= stack->high)
        root(s, (uintptr_t)stack->low, (uintptr_t)stack->high + THREAD_STRUCT);
}

static void follow_roots(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        root(s, roots[i].start, roots[i].start + roots[i].size);
    for (size_t i = 0; i < s->area_count; i++) {
        if (s->areas[i].is_heap)
            root_in_heap(s, &s->areas[i]);
        else
            root_around_blocks(s, &s->areas[i]);
    }
    wndl_rt_heap_threads_each(root_of_thread, s);
}

/* ---- what is left */

static void follow_leaks(struct search *s)
{
    s->following = INDIRECT;
    for (size_t i = 0; i < s->count; i++) {
        if (s->blocks[i].state != UNREACHED)
            continue;
        s->leader = i;
        push(s, &s->blocks[i], DEFINITE);
        follow(s);
    }
}

static void tell(const struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct block *b = &s->blocks[i];
        struct wndl_heap_leaks *leaks = &s->wanted->leaks[b->pair];
        if (!b->own)
            continue;
        leaks->definite += b->state == DEFINITE;
        leaks->indirect += b->state == INDIRECT;
        leaks->possible += b->state == POSSIBLE;
    }
}

static bool make_room(struct search *s, size_t blocks)
{
    enum { AREAS = 64 * 1024 };
    s->room = blocks + RESERVED;
    s->area_room = AREAS;
    size_t each = 2 * sizeof(struct block);
    s->size = s->room * each + AREAS * sizeof(struct area) +
              (BUCKETS + 2) * sizeof(uint32_t) + COPIED;
    s->memory = wndl_raw_map(s->size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (s->memory == NULL)
        return false;
    s->blocks = (struct block *)(void *)s->memory;
    s->other = s->blocks + s->room;
    s->areas = (struct area *)(void *)(s->other + s->room);
    s->copied = (uintptr_t *)(void *)(s->areas + s->area_room);
    s->buckets = (uint32_t *)(void *)(s->copied + COPIED / sizeof *s->copied);
    return true;
}

static void sort(struct search *s)
{
    for (unsigned shift = 0; shift < 48; shift += DIGIT_BITS)
        sort_by(s, shift);
    s->pending = (uint32_t *)(void *)s->other;
    fill_buckets(s);
}

bool wndl_rt_heap_find_leaks(const struct wndl_rt_leak_search *wanted,
    const struct wndl_rt_root *roots, size_t count)
{
    struct search s = {.wanted = wanted};
    uint8_t room[WNDL_RT_SCRATCH];
    size_t blocks = 0;
    wndl_rt_blocks_each(count_one, &blocks);
    if (blocks == 0)
        return true;
    if (wndl_rt_is_careful() || !make_room(&s, blocks))
        return false;
    /* Where nothing can be read all would seem to be lost. */
    if (copy(&s, (uintptr_t)&blocks, sizeof blocks) != sizeof blocks) {
        wndl_raw_unmap(s.memory, s.size);
        return false;
    }
    wndl_rt_blocks_each(keep_one, &s);
    bool known = wndl_maps_each("/proc/self/maps",
        (struct wndl_bytes){room, sizeof room}, keep_area, &s);
    if (known && s.count > 0) {
        sort(&s);
        mark_heap_areas(&s);
        follow_roots(&s, roots, count);
        follow_leaks(&s);
        tell(&s);
    }
    wndl_raw_unmap(s.memory, s.size);
    return known;
}
