/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/leaks.h"

#include "os/dlfind.h"
#include "os/maps.h"
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/child.h"
#include "rt/core/read_parts.h"
#include "rt/core/readable_pages.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/leaks/block_bitmap.h"
#include "rt/heap/leaks/pointer_filter.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
    COPIED = 64 * 1024,
    COPIED_WORDS = COPIED / sizeof(uintptr_t),
    WORDS = 64 * 1024, /* that are looked at, or less than COPIED more */
    ROOM = WORDS + COPIED_WORDS,
    REGIONS = 1024,        /* of the heaps, that words are ordered by */
    ORDERED = 4 * REGIONS, /* words: it does not pay for less */
    PARTS = 256,           /* of memory, copied by one system call */
    RESERVED = 512,
    /* Bytes above the thread pointer and below it, at most. */
    THREAD_STRUCT = 4096,
    STATIC_TLS = 256 * 1024,
    ABOVE = WNDL_ARCH_TLS_IS_ABOVE ? STATIC_TLS : THREAD_STRUCT,
    BELOW = WNDL_ARCH_TLS_IS_ABOVE ? THREAD_STRUCT : STATIC_TLS,
    LEAST_MAPPED = 64 * 1024, /* blocks that have a mapping of their own */
    PAGE = WNDL_RT_PAGE,
    COPY_FROM = 4 * 1024, /* blocks: for less no copy of the process is made */
};

/* What is noted of a block. */
enum state { UNREACHED, POSSIBLE, REACHED, INDIRECT, DEFINITE };

struct area {
    uintptr_t start, end;
    bool is_read; /* it can be, and be written */
    bool is_heap; /* an allocator's, or ours */
    bool is_anonymous;
    uint8_t *pages; /* enum wndl_rt_page; NULL: nothing is known of them */
    size_t blocks;
    uintptr_t high;               /* the end of the last of them */
    size_t reach;                 /* from the first to the next area's */
    struct wndl_rt_starts starts; /* where there are any */
};

/* Memory that is to be looked at for addresses. */
struct part {
    uintptr_t start;
    uint64_t size : 56;     /* whole words */
    uint64_t following : 8; /* enum state: what is found there becomes */
};

struct stack {
    struct part *parts;
    size_t count;
};

/*
 * Two mappings hold all that a search needs, which for most blocks is some
 * bits: the table of blocks tells the rest.
 */
struct search {
    const struct wndl_rt_leak_search *wanted;
    struct area *areas; /* sorted */
    size_t area_count;
    bool too_many;       /* areas: what is in others is not known */
    struct area **heaps; /* those with blocks, sorted */
    size_t heap_count;
    struct area *near;          /* the one that was found last */
    struct area *read;          /* the one that was read last */
    struct wndl_rt_sieve sieve; /* its gap is the largest without any block */
    size_t count, room;         /* blocks */
    /* Each block is once at most in each. */
    struct stack sure, possible;
    uintptr_t *copied;
    struct iovec *parts; /* whose copy that is */
    /* ROOM words each that may be addresses in blocks. */
    uintptr_t *found, *ordered;
    struct wndl_rt_own_pages own;
    uint8_t *memory, *more, *pages;
    size_t size, more_size, page_count;
    uintptr_t leader; /* whose clique is followed */
};

/* ---- blocks */

/* Pairs of the process before are not known: the block may end with its
 * page. */
static size_t size_of(const struct search *s, const struct wndl_rt_block *b)
{
    if (b->generation != s->wanted->generation)
        return sizeof(uintptr_t);
    return (size_t)(s->wanted->pairs[b->pair].usable - 1);
}

struct sized {
    const struct search *search;
    size_t size;
};

static void take_size(void *context, struct wndl_rt_block *block)
{
    struct sized *sized = context;
    sized->size = size_of(sized->search, block);
}

/* Usable bytes, 0 if it is gone. */
static size_t size_at(const struct search *s, uintptr_t start)
{
    struct sized sized = {.search = s};
    (void)wndl_rt_blocks_hold(start, take_size, &sized);
    return sized.size;
}

/* What the program told of is a part of something else. */
static bool is_whole(const struct wndl_rt_block *b)
{
    return b->address % WNDL_RT_START_ALIGNMENT == 0;
}

/* The last of `count` areas that starts at or before `address`, or NULL. */
static struct area *area_before(
    struct area *areas, size_t count, uintptr_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (areas[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &areas[low - 1];
}

/* Beside it the mapping may hold what is none of the allocator's. */
static bool is_mapped_alone(uintptr_t start, size_t size)
{
    return size >= LEAST_MAPPED && start % PAGE <= 64;
}

static void count_one(void *context, const struct wndl_rt_block *b)
{
    struct search *s = context;
    uintptr_t start = (uintptr_t)b->address;
    if (!is_whole(b))
        return;
    if (s->near == NULL || start < s->near->start || start >= s->near->end)
        s->near = area_before(s->areas, s->area_count, start);
    struct area *a = s->near;
    if (a == NULL || start >= a->end)
        return;
    struct wndl_rt_starts *t = &a->starts;
    t->low = a->blocks == 0 || start < t->low ? start : t->low;
    t->high = start > t->high ? start : t->high;
    a->is_heap |= !is_mapped_alone(start, size_of(s, b));
    a->blocks++;
    s->room++;
}

static void add_one(void *context, const struct wndl_rt_block *b)
{
    struct search *s = context;
    uintptr_t start = (uintptr_t)b->address, end = start + size_of(s, b);
    if (!is_whole(b) || s->count == s->room)
        return;
    if (start < s->near->start || start >= s->near->end)
        s->near = area_before(s->areas, s->area_count, start);
    struct area *a = s->near;
    if (a == NULL) {
        s->near = s->areas;
        return;
    }
    /* Those that were made since the first look are not asked for. */
    if (a->blocks == 0 || start < a->starts.low || start > a->starts.high)
        return;
    wndl_rt_starts_add(&a->starts, start);
    a->high = end > a->high ? end : a->high;
    s->sieve.high = end > s->sieve.high ? end : s->sieve.high;
    s->count++;
}

/* The one whose blocks `address` may be in. */
static struct area *heap_before(struct search *s, uintptr_t address)
{
    struct area *near = s->near;
    if (address - near->starts.low < near->reach)
        return near;
    size_t low = 0, high = s->heap_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->heaps[middle]->starts.low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : (s->near = s->heaps[low - 1]);
}

/* ---- following */

static void push(
    struct search *s, uintptr_t start, uintptr_t end, enum state following)
{
    enum { DOWN = sizeof(uintptr_t) - 1 };
    start = (start + DOWN) & ~(uintptr_t)DOWN;
    end &= ~(uintptr_t)DOWN;
    struct stack *to = following == POSSIBLE ? &s->possible : &s->sure;
    if (start < end)
        to->parts[to->count++] = (struct part){
            .start = start, .size = end - start, .following = following};
}

/* What a block becomes when an address in it is found. */
static enum state reached(const struct search *s, uintptr_t start,
    enum state old, enum state following, bool surely)
{
    switch (following) {
    case REACHED:
        if (surely && old < REACHED)
            return REACHED;
        return old == UNREACHED ? POSSIBLE : old;
    case POSSIBLE:
        return old == UNREACHED ? POSSIBLE : old;
    default:
        return old == UNREACHED || (old == DEFINITE && start != s->leader)
                   ? INDIRECT
                   : old;
    }
}

/*
 * The last word of what can be used of a block may be the allocator's: glibc
 * points to it as the start of the next one, when that is free.
 */
static void look_at(struct search *s, uintptr_t word, enum state following)
{
    uintptr_t start;
    struct area *a = heap_before(s, word);
    if (a == NULL || word >= a->high ||
        !wndl_rt_starts_before(&a->starts, word, &start))
        return;
    enum state old = wndl_rt_starts_note(&a->starts, start);
    enum state now = reached(s, start, old, following, word == start);
    if (now == old)
        return;
    size_t size = size_at(s, start), into = word - start;
    if (into != 0 && (into >= size || into == size - sizeof word))
        return;
    wndl_rt_starts_set_note(&a->starts, start, now);
    if (old != DEFINITE)
        push(s, start, start + size, now);
}

/* ---- reading */

/* Of the pages from `start` on those that are alike. *size is made less, if
 * others come before its end. */
static enum wndl_rt_page pages_at(
    struct search *s, uintptr_t start, size_t *size)
{
    const struct area *a = s->read;
    if (a == NULL || start - a->start >= a->end - a->start)
        a = s->read = area_before(s->areas, s->area_count, start);
    if (a == NULL || start >= a->end || a->pages == NULL)
        return WNDL_RT_PAGE_OTHER;
    size_t left = a->end - start;
    uintptr_t end = start + (*size < left ? *size : left);
    const uint8_t *first = a->pages + (start / PAGE - a->start / PAGE);
    const uint8_t *page = first;
    uintptr_t at = start;
    do
        at = (at | (PAGE - 1)) + 1;
    while (at < end && *++page == *first);
    *size = (at < end ? at : end) - start;
    return (enum wndl_rt_page) * first;
}

static void drop(struct stack *pending, size_t size)
{
    struct part *p = &pending->parts[pending->count - 1];
    p->start += size;
    p->size -= size;
    if (p->size == 0)
        pending->count--;
}

/* All that is pending in one is followed alike. */
static enum state next_state(const struct stack *pending)
{
    return (enum state)pending->parts[pending->count - 1].following;
}

static uintptr_t next_pending(
    const struct stack *pending, size_t *size, size_t most)
{
    const struct part *p = &pending->parts[pending->count - 1];
    *size = p->size < most ? (size_t)p->size : most;
    return p->start;
}

/* Takes what is pending into s->parts, as much as is copied at once, and tells
 * how many parts. */
static size_t gather(struct search *s, struct stack *pending)
{
    size_t count = 0, room = COPIED;
    while (count < PARTS && room > 0 && pending->count > 0) {
        size_t size;
        uintptr_t start = next_pending(pending, &size, room);
        if (pages_at(s, start, &size) != WNDL_RT_PAGE_OTHER)
            break;
        s->parts[count++] = (struct iovec){(void *)start, size};
        room -= size;
        drop(pending, size);
    }
    return count;
}

/* Of what comes after `got` bytes only the page cannot be read. */
static void put_back(
    struct search *s, size_t count, size_t got, enum state following)
{
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = (uintptr_t)s->parts[i].iov_base;
        uintptr_t end = start + s->parts[i].iov_len;
        if (got >= end - start) {
            got -= end - start;
            continue;
        }
        push(s, ((start + got) | (PAGE - 1)) + 1, end, following);
        for (i++; i < count; i++) {
            start = (uintptr_t)s->parts[i].iov_base;
            push(s, start, start + s->parts[i].iov_len, following);
        }
    }
}

/* What only the kernel can read safely. */
static size_t copy(struct search *s, struct stack *pending, uintptr_t *found)
{
    enum state following = next_state(pending);
    size_t count = gather(s, pending);
    size_t got = wndl_rt_read_parts(s->copied, COPIED, s->parts, count);
    put_back(s, count, got, following);
    return wndl_rt_sift(&s->sieve, s->copied, got / sizeof *s->copied, found);
}

/* In what is pending, until WORDS are found or more. */
static size_t find_words(struct search *s, struct stack *pending)
{
    size_t count = 0;
    while (count < WORDS && pending->count > 0) {
        size_t size;
        uintptr_t start = next_pending(pending, &size, COPIED);
        enum wndl_rt_page page = pages_at(s, start, &size);
        uintptr_t *found = s->found + count;
        if (page == WNDL_RT_PAGE_OTHER) {
            count += copy(s, pending, found);
            continue;
        }
        if (page == WNDL_RT_PAGE_PRESENT) {
            count += wndl_rt_sift(&s->sieve, (const uintptr_t *)start,
                size / sizeof *found, found);
        }
        drop(pending, size);
    }
    return count;
}

/* As if there were no gap. */
static uintptr_t place_of(const struct wndl_rt_sieve *sieve, uintptr_t word)
{
    uintptr_t place = word - sieve->low;
    return word < sieve->gap ? place : place - (sieve->gap_end - sieve->gap);
}

/* The smallest with which there are no more than REGIONS. */
static unsigned region_shift(const struct wndl_rt_sieve *sieve)
{
    unsigned shift = 0;
    while (place_of(sieve, sieve->high) >> shift >= REGIONS)
        shift++;
    return shift;
}

/*
 * Blocks that are near each other are looked at together, and so are pushed
 * and read: to go to and fro takes three times as long where the heap is
 * larger than the caches.
 */
static const uintptr_t *by_region(struct search *s, size_t count)
{
    uint32_t ends[REGIONS] = {0};
    if (count < ORDERED)
        return s->found;
    unsigned shift = region_shift(&s->sieve);
    for (size_t i = 0; i < count; i++)
        ends[place_of(&s->sieve, s->found[i]) >> shift]++;
    for (size_t i = 1; i < REGIONS; i++)
        ends[i] += ends[i - 1];
    for (size_t i = count; i-- > 0;) {
        size_t region = place_of(&s->sieve, s->found[i]) >> shift;
        s->ordered[--ends[region]] = s->found[i];
    }
    return s->ordered;
}

static void follow_all(struct search *s, struct stack *pending)
{
    enum state following = next_state(pending);
    size_t count = find_words(s, pending);
    const uintptr_t *words = by_region(s, count);
    for (size_t i = 0; i < count; i++)
        look_at(s, words[i], following);
}

/*
 * What is sure comes first: most of what is possible is reached by then, and
 * each is followed with much of its kind by one system call.
 */
static void follow(struct search *s)
{
    while (s->sure.count > 0 || s->possible.count > 0)
        follow_all(s, s->sure.count > 0 ? &s->sure : &s->possible);
}

static void root(struct search *s, uintptr_t start, uintptr_t end)
{
    push(s, start, end, REACHED);
    follow(s);
}

/* ---- roots */

static bool add_area(struct search *s, const struct wndl_mapping *m)
{
    uintptr_t shared = (uintptr_t)wndl_rt.shm;
    uintptr_t start = (uintptr_t)m->start, end = (uintptr_t)m->end;
    bool is_read = m->readable && m->writable;
    /* A block may have been protected. */
    if (!is_read && m->path.size != 0)
        return true;
    if (s->area_count == s->wanted->most_mappings) {
        s->too_many = true;
        return false;
    }
    if (wndl_bytes_is(m->path, "[stack]") && s->wanted->sp >= start &&
        s->wanted->sp < end)
        start = s->wanted->sp;
    s->areas[s->area_count++] = (struct area){
        .start = start,
        .end = end,
        .is_read = is_read,
        .is_anonymous =
            m->inode == 0 && (m->path.size == 0 || m->path.data[0] == '['),
        .is_heap = wndl_bytes_is(m->path, "[heap]") ||
                   (start < shared + wndl_rt.shared_size && shared < end) ||
                   wndl_rt_heap_threads_are_in(start, end),
    };
    return true;
}

/* The kernel may have made one mapping of our memory and the program's. */
static bool keep_area(void *context, const struct wndl_mapping *m)
{
    struct search *s = context;
    uint64_t ours = (uintptr_t)s->memory;
    if (ours < m->start || ours >= m->end)
        return add_area(s, m);
    struct wndl_mapping before = *m, behind = *m;
    before.end = ours;
    behind.start = ours + s->size;
    return (before.start == before.end || add_area(s, &before)) &&
           (behind.start >= behind.end || add_area(s, &behind));
}

/* Emulators know the first one alone, which is empty where the first thread has
 * ended. */
static bool list_areas(struct search *s)
{
    uint8_t room[WNDL_RT_SCRATCH];
    const struct wndl_bytes scratch = {room, sizeof room};
    return wndl_maps_each("/proc/self/maps", scratch, keep_area, s) &&
           (s->area_count != 0 || wndl_maps_each("/proc/thread-self/maps",
                                      scratch, keep_area, s)) &&
           !s->too_many;
}

static void root_around_blocks(struct search *s, const struct area *a)
{
    uintptr_t from = a->start, start;
    for (uintptr_t at = a->start;
         a->blocks != 0 && wndl_rt_starts_after(&a->starts, at, &start);
         at = start + WNDL_RT_START_ALIGNMENT) {
        root(s, from, start);
        from = start + size_at(s, start);
    }
    root(s, from, a->end);
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
    bool whole = tp - a->start < BELOW;
    root(s, whole ? a->start : tp - BELOW,
        a->end - tp < ABOVE ? a->end : tp + ABOVE);
}

static void root_of_thread(void *context, const struct wndl_stack_range *stack)
{
    struct search *s = context;
    if (s->wanted->sp < stack->low || s->wanted->sp >= stack->high)
        root(s, (uintptr_t)stack->low, (uintptr_t)stack->high + ABOVE);
}

static void follow_roots(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        root(s, roots[i].start, roots[i].start + roots[i].size);
    for (size_t i = 0; i < s->area_count; i++) {
        const struct area *a = &s->areas[i];
        if (a->is_read && a->is_heap)
            root_in_heap(s, a);
        else if (a->is_read)
            root_around_blocks(s, a);
    }
    wndl_rt_heap_threads_each(root_of_thread, s);
}

/* ---- what is left */

static void follow_leaks(struct search *s, struct area *a)
{
    uintptr_t start;
    for (uintptr_t at = a->starts.low;
         wndl_rt_starts_after(&a->starts, at, &start);
         at = start + WNDL_RT_START_ALIGNMENT) {
        if (wndl_rt_starts_note(&a->starts, start) != UNREACHED)
            continue;
        s->leader = start;
        wndl_rt_starts_set_note(&a->starts, start, DEFINITE);
        push(s, start, start + size_at(s, start), INDIRECT);
        follow(s);
    }
}

/* Of most pairs there is nothing to tell: what is not written to takes no
 * memory. */
static void tell_one(void *context, const struct wndl_rt_block *b)
{
    struct search *s = context;
    uintptr_t start = (uintptr_t)b->address;
    if (b->generation != s->wanted->generation)
        return;
    const struct area *a = heap_before(s, start);
    if (a == NULL || !wndl_rt_starts_has(&a->starts, start))
        return;
    enum state state = wndl_rt_starts_note(&a->starts, start);
    if (state == REACHED)
        return;
    struct wndl_heap_leaks *leaks = &s->wanted->leaks[b->pair];
    leaks->definite += state == DEFINITE;
    leaks->indirect += state == INDIRECT;
    leaks->possible += state == POSSIBLE;
}

/* ---- memory */

static uint8_t *map_as(int sharing, size_t size)
{
    return wndl_raw_map(size, PROT_READ | PROT_WRITE,
        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static uint8_t *map(size_t size)
{
    return map_as(MAP_PRIVATE, size);
}

static bool make_room(struct search *s)
{
    enum { ALL = COPIED + 2 * ROOM * sizeof *s->found };
    size_t areas = s->wanted->most_mappings;
    s->size = wndl_round_up_page(
        areas * sizeof *s->areas + ALL + PARTS * sizeof *s->parts);
    s->memory = map(s->size);
    if (s->memory == NULL)
        return false;
    s->areas = (struct area *)(void *)s->memory;
    s->copied = (uintptr_t *)(void *)(s->areas + areas);
    s->found = s->copied + COPIED_WORDS;
    s->ordered = s->found + ROOM;
    s->parts = (struct iovec *)(void *)(s->ordered + ROOM);
    return true;
}

/* Only those are asked about that are read from one end to the other, or have
 * blocks. */
static size_t pages_of(const struct area *a)
{
    bool is_asked =
        a->is_read && a->is_anonymous && (a->blocks != 0 || !a->is_heap);
    return is_asked ? (a->end - 1) / PAGE - a->start / PAGE + 1 : 0;
}

/* Where nothing can be said of them, the kernel copies it all. */
static void look_at_pages(struct search *s, int sharing)
{
    s->page_count = 0;
    for (size_t i = 0; i < s->area_count; i++)
        s->page_count += pages_of(&s->areas[i]);
    s->pages = s->page_count == 0 ? NULL : map_as(sharing, s->page_count);
    uint8_t *at = s->pages;
    for (size_t i = 0; at != NULL && i < s->area_count; i++) {
        struct area *a = &s->areas[i];
        size_t count = pages_of(a);
        if (count != 0 && wndl_rt_own_pages_look(&s->own, a->start, count, at))
            a->pages = at;
        at += count;
    }
}

static void forget_pages(struct search *s)
{
    for (size_t i = 0; i < s->area_count; i++)
        s->areas[i].pages = NULL;
    if (s->pages != NULL)
        wndl_raw_unmap(s->pages, s->page_count);
}

static void set_reaches(struct search *s)
{
    uintptr_t next = UINTPTR_MAX;
    for (size_t i = s->heap_count; i-- > 0; next = s->heaps[i]->starts.low)
        s->heaps[i]->reach = next - s->heaps[i]->starts.low;
}

/* For the blocks that were counted. */
static bool make_more_room(struct search *s)
{
    size_t bits = 0;
    for (size_t i = 0; i < s->area_count; i++) {
        const struct area *a = &s->areas[i];
        bits += a->blocks != 0 ? wndl_rt_starts_size(&a->starts) : 0;
        s->heap_count += a->blocks != 0;
    }
    size_t pending = (s->room + RESERVED) * sizeof(struct part);
    s->more_size = bits + 2 * pending + s->heap_count * sizeof *s->heaps;
    s->more = map(s->more_size);
    if (s->more == NULL)
        return false;
    uint8_t *at = s->more;
    s->sure.parts = (struct part *)(void *)(at + bits);
    s->possible.parts = (struct part *)(void *)(at + bits + pending);
    s->heaps = (struct area **)(void *)(at + bits + 2 * pending);
    s->heap_count = 0;
    for (size_t i = 0; i < s->area_count; i++) {
        struct area *a = &s->areas[i];
        if (a->blocks == 0)
            continue;
        wndl_rt_starts_init(&a->starts, at);
        at += wndl_rt_starts_size(&a->starts);
        s->heaps[s->heap_count++] = a;
    }
    set_reaches(s);
    return true;
}

/* Most programs have one heap, and some blocks far from it. */
static void find_gap(struct search *s)
{
    uintptr_t from = s->sieve.low;
    for (size_t i = 0; i + 1 < s->heap_count; i++) {
        uintptr_t end = s->heaps[i]->high, to = s->heaps[i + 1]->starts.low;
        from = end > from ? end : from;
        if (to > from && to - from > s->sieve.gap_end - s->sieve.gap) {
            s->sieve.gap = from;
            s->sieve.gap_end = to;
        }
    }
}

static void search(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    s->near = s->heaps[0];
    follow_roots(s, roots, count);
    for (size_t i = 0; i < s->heap_count; i++)
        follow_leaks(s, s->heaps[i]);
    wndl_rt_blocks_each(tell_one, s);
}

static void search_here(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    look_at_pages(s, MAP_PRIVATE);
    search(s, roots, count);
    forget_pages(s);
}

/* A sandbox may answer a fork with the end of the process. */
static bool may_copy(const struct search *s)
{
    return !s->own.in_place && s->own.pagemap >= 0 && s->room >= COPY_FROM &&
           wndl_raw3(SYS_prctl, PR_GET_SECCOMP, 0, 0) == 0;
}

/* All of it, for what a copy has told may be a part. */
static void take_back(const struct search *s)
{
    uint32_t count = atomic_load(s->wanted->pair_count);
    count = count < s->wanted->most_pairs ? count : s->wanted->most_pairs;
    for (uint32_t i = 0; i < count; i++) {
        struct wndl_heap_leaks *leaks = &s->wanted->leaks[i];
        if ((leaks->definite | leaks->indirect | leaks->possible) != 0)
            *leaks = (struct wndl_heap_leaks){0};
    }
}

static uintptr_t page_in(const struct area *a, size_t number)
{
    return (a->start & ~(uintptr_t)(PAGE - 1)) + number * PAGE;
}

/*
 * In a copy. What stays behind in a fork (MADV_DONTFORK, what devices map so),
 * or was unmapped before it, leads to nothing there: what only that pointed to
 * would seem to be lost.
 */
static bool has_all_areas(const struct search *s)
{
    uint8_t resident;
    for (size_t i = 0; i < s->area_count; i++) {
        const struct area *a = &s->areas[i];
        if ((a->is_read || a->blocks != 0) &&
            wndl_raw3(SYS_mincore, (long)page_in(a, 0), PAGE,
                (long)&resident) == -ENOMEM)
            return false;
    }
    return true;
}

/* The first page that was touched; all the same whether there is none. */
static uint8_t *first_touched(const struct area *a)
{
    size_t count = pages_of(a), i = 0;
    while (i + 1 < count && a->pages[i] == WNDL_RT_PAGE_UNTOUCHED)
        i++;
    return &a->pages[i];
}

/* In a copy: tells the process of what was wiped in it (MADV_WIPEONFORK). All
 * pages of a mapping are, or none. */
static void note_wiped(const struct search *s)
{
    for (size_t i = 0; i < s->area_count; i++) {
        const struct area *a = &s->areas[i];
        if (a->pages == NULL)
            continue;
        uint8_t resident = 1, *page = first_touched(a);
        uintptr_t at = page_in(a, (size_t)(page - a->pages));
        if (*page == WNDL_RT_PAGE_PRESENT &&
            wndl_raw3(SYS_mincore, (long)at, PAGE, (long)&resident) == 0 &&
            (resident & 1) == 0)
            *page = WNDL_RT_PAGE_WIPED;
    }
}

static bool is_in_block(struct search *s, uintptr_t word)
{
    uintptr_t start;
    const struct area *a = heap_before(s, word);
    return a != NULL && word < a->high &&
           wndl_rt_starts_before(&a->starts, word, &start) &&
           word - start < size_at(s, start);
}

static bool leads_to_blocks(struct search *s, const struct area *a)
{
    for (size_t i = 0; i < pages_of(a); i++) {
        struct iovec page = {(void *)page_in(a, i), PAGE};
        if (a->pages[i] == WNDL_RT_PAGE_UNTOUCHED)
            continue;
        size_t got = wndl_rt_read_parts(s->copied, COPIED, &page, 1);
        size_t kept = wndl_rt_sift(
            &s->sieve, s->copied, got / sizeof *s->copied, s->found);
        for (size_t k = 0; k < kept; k++) {
            if (is_in_block(s, s->found[k]))
                return true;
        }
    }
    return false;
}

/* Mostly it is what random numbers come from, and none of them is an address
 * of a block. */
static bool was_wiped_in_vain(struct search *s)
{
    s->near = s->heaps[0];
    for (size_t i = 0; i < s->area_count; i++) {
        const struct area *a = &s->areas[i];
        if (a->pages != NULL && *first_touched(a) == WNDL_RT_PAGE_WIPED &&
            leads_to_blocks(s, a))
            return false;
    }
    return true;
}

static _Noreturn void be_copy(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    wndl_rt_child_leave_no_core();
    wndl_rt.pid = wndl_raw_getpid();
    if (!has_all_areas(s))
        wndl_rt_child_exit(1);
    note_wiped(s);
    search(s, roots, count);
    wndl_rt_child_exit(0);
}

/*
 * In a copy of the process, in which nothing else runs: there memory can be
 * read in place. A page that could be read a moment ago and is not in the copy
 * ends that, and no more.
 */
static bool search_in_copy(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    wndl_rt_own_pages_begin_copy(&s->own);
    look_at_pages(s, MAP_SHARED);
    wndl_rt_blocks_hold_all();
    long copy = wndl_rt_child_fork_alone();
    wndl_rt_blocks_leave_all();
    if (copy == 0)
        be_copy(s, roots, count);
    wndl_rt_own_pages_end_copy(&s->own);
    bool told =
        copy > 0 && wndl_rt_child_wait(copy) == 0 && was_wiped_in_vain(s);
    forget_pages(s);
    if (copy > 0 && !told)
        take_back(s);
    return told;
}

static void search_among_blocks(
    struct search *s, const struct wndl_rt_root *roots, size_t count)
{
    s->near = s->heaps[0];
    s->sieve.low = s->near->starts.low;
    wndl_rt_blocks_each(add_one, s);
    find_gap(s);
    if (!may_copy(s) || !search_in_copy(s, roots, count))
        search_here(s, roots, count);
    wndl_raw_unmap(s->more, s->more_size);
}

bool wndl_rt_heap_find_leaks(const struct wndl_rt_leak_search *wanted,
    const struct wndl_rt_root *roots, size_t count)
{
    struct search s = {
        .wanted = wanted,
        .sieve.has_avx2 = wndl_rt_sift_has_avx2(),
    };
    if (wndl_rt_is_careful() || !make_room(&s))
        return false;
    wndl_rt_own_pages_begin(&s.own);
    /* Where nothing can be read all would seem to be lost. */
    struct iovec probe = {&s, sizeof s};
    bool known = wndl_rt_read_parts(s.copied, COPIED, &probe, 1) == sizeof s &&
                 list_areas(&s);
    if (known) {
        wndl_rt_blocks_each(count_one, &s);
        known = s.room == 0 || make_more_room(&s);
    }
    if (known && s.room != 0)
        search_among_blocks(&s, roots, count);
    wndl_rt_own_pages_end(&s.own);
    wndl_raw_unmap(s.memory, s.size);
    return known;
}
