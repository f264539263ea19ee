/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/follow.h"

#include "rt/core/read_parts.h"

enum {
    REGIONS = 1024,        /* regions of the heaps, by which words are
                            * ordered */
    ORDERED = 4 * REGIONS, /* words: fewer are not worth it */
};

void wndl_rt_follow_push(struct wndl_rt_follower *s, uintptr_t start,
    uintptr_t end, enum wndl_rt_reach following)
{
    enum { DOWN = sizeof(uintptr_t) - 1 };
    start = (start + DOWN) & ~(uintptr_t)DOWN;
    end &= ~(uintptr_t)DOWN;
    struct wndl_rt_parts *to =
        following == WNDL_RT_POSSIBLE ? &s->possible : &s->sure;
    if (start < end)
        to->parts[to->count++] = (struct wndl_rt_part){
            .start = start, .size = end - start, .following = following};
}

/* The reach of a block when an address in it is found. */
static enum wndl_rt_reach reached(const struct wndl_rt_follower *s,
    uintptr_t start, enum wndl_rt_reach old, enum wndl_rt_reach following,
    bool surely)
{
    switch (following) {
    case WNDL_RT_REACHED:
        if (surely && old < WNDL_RT_REACHED)
            return WNDL_RT_REACHED;
        return old == WNDL_RT_UNREACHED ? WNDL_RT_POSSIBLE : old;
    case WNDL_RT_POSSIBLE:
        return old == WNDL_RT_UNREACHED ? WNDL_RT_POSSIBLE : old;
    default:
        return old == WNDL_RT_UNREACHED ||
                       (old == WNDL_RT_DEFINITE && start != s->leader)
                   ? WNDL_RT_INDIRECT
                   : old;
    }
}

/*
 * The last word of a block's usable size may be the allocator's: glibc points
 * to it as the start of the next block, if that is free.
 */
static void look_at(
    struct wndl_rt_follower *s, uintptr_t word, enum wndl_rt_reach following)
{
    uintptr_t start;
    struct wndl_rt_area *a = wndl_rt_areas_heap_before(s->areas, word);
    if (a == NULL || word >= a->high ||
        !wndl_rt_block_bitmap_before(&a->bitmap, word, &start))
        return;
    enum wndl_rt_reach old = wndl_rt_block_bitmap_mark(&a->bitmap, start);
    enum wndl_rt_reach now = reached(s, start, old, following, word == start);
    if (now == old)
        return;
    size_t size = wndl_rt_areas_size_at(s->areas, start), into = word - start;
    if (into != 0 && (into >= size || into == size - sizeof word))
        return;
    wndl_rt_block_bitmap_set_mark(&a->bitmap, start, now);
    if (old != WNDL_RT_DEFINITE)
        wndl_rt_follow_push(s, start, start + size, now);
}

/* ---- reading */

static void drop(struct wndl_rt_parts *pending, size_t size)
{
    struct wndl_rt_part *p = &pending->parts[pending->count - 1];
    p->start += size;
    p->size -= size;
    if (p->size == 0)
        pending->count--;
}

/* All pending parts of one list are followed in the same way. */
static enum wndl_rt_reach next_state(const struct wndl_rt_parts *pending)
{
    return (enum wndl_rt_reach)pending->parts[pending->count - 1].following;
}

static uintptr_t next_pending(
    const struct wndl_rt_parts *pending, size_t *size, size_t most)
{
    const struct wndl_rt_part *p = &pending->parts[pending->count - 1];
    *size = p->size < most ? (size_t)p->size : most;
    return p->start;
}

/*
 * Moves pending parts to s->parts, as many as one copy holds, and returns their
 * number.
 */
static size_t gather(struct wndl_rt_follower *s, struct wndl_rt_parts *pending)
{
    size_t count = 0, room = WNDL_RT_COPIED;
    while (count < WNDL_RT_PARTS && room > 0 && pending->count > 0) {
        size_t size;
        uintptr_t start = next_pending(pending, &size, room);
        if (wndl_rt_areas_pages_at(s->areas, start, &size) !=
            WNDL_RT_PAGE_OTHER)
            break;
        s->parts[count++] = (struct iovec){(void *)start, size};
        room -= size;
        drop(pending, size);
    }
    return count;
}

/* After `got` bytes only one page is unreadable. */
static void put_back(struct wndl_rt_follower *s, size_t count, size_t got,
    enum wndl_rt_reach following)
{
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = (uintptr_t)s->parts[i].iov_base;
        uintptr_t end = start + s->parts[i].iov_len;
        if (got >= end - start) {
            got -= end - start;
            continue;
        }
        wndl_rt_follow_push(
            s, ((start + got) | (WNDL_RT_PAGE - 1)) + 1, end, following);
        for (i++; i < count; i++) {
            start = (uintptr_t)s->parts[i].iov_base;
            wndl_rt_follow_push(
                s, start, start + s->parts[i].iov_len, following);
        }
    }
}

/* Copies memory that only the kernel can read safely. */
static size_t copy(
    struct wndl_rt_follower *s, struct wndl_rt_parts *pending, uintptr_t *found)
{
    enum wndl_rt_reach following = next_state(pending);
    size_t count = gather(s, pending);
    size_t got = wndl_rt_read_parts(s->copied, WNDL_RT_COPIED, s->parts, count);
    put_back(s, count, got, following);
    return wndl_rt_pointer_filter_keep(
        &s->areas->filter, s->copied, got / sizeof *s->copied, found);
}

/* Searches pending parts until WNDL_RT_WORDS words or more are found. */
static size_t find_words(
    struct wndl_rt_follower *s, struct wndl_rt_parts *pending)
{
    size_t count = 0;
    while (count < WNDL_RT_WORDS && pending->count > 0) {
        size_t size;
        /* Untouched pages are passed over at once, however many. */
        uintptr_t start = next_pending(pending, &size, SIZE_MAX);
        enum wndl_rt_page page = wndl_rt_areas_pages_at(s->areas, start, &size);
        uintptr_t *found = s->found + count;
        if (page != WNDL_RT_PAGE_UNTOUCHED && size > WNDL_RT_COPIED)
            size = WNDL_RT_COPIED;
        if (page == WNDL_RT_PAGE_OTHER) {
            count += copy(s, pending, found);
            continue;
        }
        if (page == WNDL_RT_PAGE_PRESENT) {
            count += wndl_rt_pointer_filter_keep(&s->areas->filter,
                (const uintptr_t *)start, size / sizeof *found, found);
        }
        drop(pending, size);
    }
    return count;
}

/* The place without the gap. */
static uintptr_t place_of(
    const struct wndl_rt_pointer_filter *filter, uintptr_t word)
{
    uintptr_t place = word - filter->low;
    return word < filter->gap ? place : place - (filter->gap_end - filter->gap);
}

/* The smallest shift that gives at most REGIONS. */
static unsigned region_shift(const struct wndl_rt_pointer_filter *filter)
{
    unsigned shift = 0;
    while (place_of(filter, filter->high) >> shift >= REGIONS)
        shift++;
    return shift;
}

/*
 * Orders words by region. Blocks near each other are then examined together,
 * and so pushed and read together. Without this it takes three times as long if
 * the heap is larger than the caches.
 */
static const uintptr_t *by_region(struct wndl_rt_follower *s, size_t count)
{
    uint32_t ends[REGIONS] = {0};
    if (count < ORDERED)
        return s->found;
    unsigned shift = region_shift(&s->areas->filter);
    for (size_t i = 0; i < count; i++)
        ends[place_of(&s->areas->filter, s->found[i]) >> shift]++;
    for (size_t i = 1; i < REGIONS; i++)
        ends[i] += ends[i - 1];
    for (size_t i = count; i-- > 0;) {
        size_t region = place_of(&s->areas->filter, s->found[i]) >> shift;
        s->ordered[--ends[region]] = s->found[i];
    }
    return s->ordered;
}

static void follow_all(
    struct wndl_rt_follower *s, struct wndl_rt_parts *pending)
{
    enum wndl_rt_reach following = next_state(pending);
    size_t count = find_words(s, pending);
    const uintptr_t *words = by_region(s, count);
    for (size_t i = 0; i < count; i++)
        look_at(s, words[i], following);
}

/*
 * Sure parts come first. Most blocks that are only possible are reached by
 * then, and one system call reads many parts of a kind.
 */
void wndl_rt_follow(struct wndl_rt_follower *s)
{
    while (s->sure.count > 0 || s->possible.count > 0)
        follow_all(s, s->sure.count > 0 ? &s->sure : &s->possible);
}
