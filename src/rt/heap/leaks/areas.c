/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/areas.h"

#include "os/maps.h"
#include "os/raw.h"
#include "rt/heap/count/thread.h"

#include <sys/mman.h>

enum { LEAST_MAPPED = 64 * 1024 }; /* for blocks with a mapping of their own */

/* ---- the list */

static bool add_area(struct wndl_rt_areas *s, const struct wndl_mapping *m)
{
    uintptr_t shared = (uintptr_t)wndl_rt.shm;
    uintptr_t start = (uintptr_t)m->start, end = (uintptr_t)m->end;
    bool is_read = m->readable && m->writable;
    /* A block may have been protected. */
    if (!is_read && m->path.size != 0)
        return true;
    if (s->count == s->wanted->most_mappings) {
        s->too_many = true;
        return false;
    }
    if (wndl_bytes_is(m->path, "[stack]") && s->wanted->sp >= start &&
        s->wanted->sp < end)
        start = s->wanted->sp;
    s->all[s->count++] = (struct wndl_rt_area){
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

/* The kernel may have joined our memory and the program's in one mapping. */
static bool keep_area(void *context, const struct wndl_mapping *m)
{
    struct wndl_rt_areas *s = context;
    uint64_t ours = s->ours;
    if (ours < m->start || ours >= m->end)
        return add_area(s, m);
    struct wndl_mapping before = *m, after = *m;
    before.end = ours;
    after.start = ours + s->ours_size;
    return (before.start == before.end || add_area(s, &before)) &&
           (after.start >= after.end || add_area(s, &after));
}

/*
 * Emulators have only the first file, which is empty if the first thread has
 * ended.
 */
bool wndl_rt_areas_list(struct wndl_rt_areas *s)
{
    uint8_t room[WNDL_RT_SCRATCH];
    const struct wndl_bytes scratch = {room, sizeof room};
    return wndl_maps_each("/proc/self/maps", scratch, keep_area, s) &&
           (s->count != 0 || wndl_maps_each("/proc/thread-self/maps", scratch,
                                 keep_area, s)) &&
           !s->too_many;
}

/* ---- blocks */

/*
 * The usable size. After a fork the parent's sites are unknown: assume one
 * word, because the block may end with its page.
 */
size_t wndl_rt_areas_size_of(
    const struct wndl_rt_areas *s, const struct wndl_rt_block *b)
{
    if (b->generation != s->wanted->generation)
        return sizeof(uintptr_t);
    return (size_t)(s->wanted->sites[b->site].usable - 1);
}

struct sized {
    const struct wndl_rt_areas *areas;
    size_t size;
};

static void take_size(void *context, struct wndl_rt_block *block)
{
    struct sized *sized = context;
    sized->size = wndl_rt_areas_size_of(sized->areas, block);
}

size_t wndl_rt_areas_size_at(const struct wndl_rt_areas *s, uintptr_t start)
{
    struct sized sized = {.areas = s};
    (void)wndl_rt_blocks_hold(start, take_size, &sized);
    return sized.size;
}

/* A block that the program reported is a part of another. */
static bool is_whole(const struct wndl_rt_block *b)
{
    return b->address % WNDL_RT_BLOCK_ALIGNMENT == 0;
}

/* The last of `count` areas that start at or before `address`, or NULL. */
static struct wndl_rt_area *area_before(
    struct wndl_rt_area *areas, size_t count, uintptr_t address)
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

/* Otherwise the mapping may hold memory that is not the allocator's. */
static bool is_mapped_alone(uintptr_t start, size_t size)
{
    return size >= LEAST_MAPPED && start % WNDL_RT_PAGE <= 64;
}

void wndl_rt_areas_count(void *context, const struct wndl_rt_block *b)
{
    struct wndl_rt_areas *s = context;
    uintptr_t start = (uintptr_t)b->address;
    if (!is_whole(b))
        return;
    if (s->near == NULL || start < s->near->start || start >= s->near->end)
        s->near = area_before(s->all, s->count, start);
    struct wndl_rt_area *a = s->near;
    if (a == NULL || start >= a->end)
        return;
    struct wndl_rt_block_bitmap *t = &a->bitmap;
    t->low = a->blocks == 0 || start < t->low ? start : t->low;
    t->high = start > t->high ? start : t->high;
    a->is_heap |= !is_mapped_alone(start, wndl_rt_areas_size_of(s, b));
    a->blocks++;
    s->block_room++;
}

void wndl_rt_areas_add(void *context, const struct wndl_rt_block *b)
{
    struct wndl_rt_areas *s = context;
    const uintptr_t start = (uintptr_t)b->address;
    const uintptr_t end = start + wndl_rt_areas_size_of(s, b);
    if (!is_whole(b) || s->block_count == s->block_room)
        return;
    if (start < s->near->start || start >= s->near->end)
        s->near = area_before(s->all, s->count, start);
    struct wndl_rt_area *a = s->near;
    if (a == NULL) {
        s->near = s->all;
        return;
    }
    /* Blocks made since the first visit are not in it. */
    if (a->blocks == 0 || start < a->bitmap.low || start > a->bitmap.high)
        return;
    wndl_rt_block_bitmap_add(&a->bitmap, start);
    a->high = end > a->high ? end : a->high;
    s->filter.high = end > s->filter.high ? end : s->filter.high;
    s->block_count++;
}

size_t wndl_rt_areas_heap_size(struct wndl_rt_areas *s)
{
    size_t bits = 0;
    s->heap_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct wndl_rt_area *a = &s->all[i];
        bits += a->blocks != 0 ? wndl_rt_block_bitmap_size(&a->bitmap) : 0;
        s->heap_count += a->blocks != 0;
    }
    return s->heap_count * sizeof *s->heaps + bits;
}

static void set_reaches(struct wndl_rt_areas *s)
{
    uintptr_t next = UINTPTR_MAX;
    for (size_t i = s->heap_count; i-- > 0; next = s->heaps[i]->bitmap.low)
        s->heaps[i]->reach = next - s->heaps[i]->bitmap.low;
}

void wndl_rt_areas_make_heaps(struct wndl_rt_areas *s, uint8_t *memory)
{
    for (size_t i = 0; i < s->count; i++) {
        struct wndl_rt_area *a = &s->all[i];
        if (a->blocks == 0)
            continue;
        wndl_rt_block_bitmap_init(&a->bitmap, memory);
        memory += wndl_rt_block_bitmap_size(&a->bitmap);
    }
    s->heaps = (struct wndl_rt_area **)(void *)memory;
    s->heap_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->all[i].blocks != 0)
            s->heaps[s->heap_count++] = &s->all[i];
    }
    set_reaches(s);
}

/* Most programs have one heap, and some blocks far from it. */
void wndl_rt_areas_find_gap(struct wndl_rt_areas *s)
{
    uintptr_t from = s->filter.low;
    for (size_t i = 0; i + 1 < s->heap_count; i++) {
        uintptr_t end = s->heaps[i]->high, to = s->heaps[i + 1]->bitmap.low;
        from = end > from ? end : from;
        if (to > from && to - from > s->filter.gap_end - s->filter.gap) {
            s->filter.gap = from;
            s->filter.gap_end = to;
        }
    }
}

/* ---- pages */

static uint8_t *map_states(int sharing, size_t size)
{
    return wndl_raw_map(size, PROT_READ | PROT_WRITE,
        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

size_t wndl_rt_area_page_count(const struct wndl_rt_area *a)
{
    bool is_asked = a->is_read && a->is_anonymous &&
                    (a->blocks != 0 || a->may_have_blocks || !a->is_heap);
    return is_asked ? (a->end - 1) / WNDL_RT_PAGE - a->start / WNDL_RT_PAGE + 1
                    : 0;
}

bool wndl_rt_areas_look_at_pages(struct wndl_rt_areas *s, int sharing)
{
    s->states_size = 0;
    for (size_t i = 0; i < s->count; i++) {
        const size_t count = wndl_rt_area_page_count(&s->all[i]);
        s->states_size += count + wndl_rt_pages_part_count(count);
    }
    s->states =
        s->states_size == 0 ? NULL : map_states(sharing, s->states_size);
    uint8_t *at = s->states;
    for (size_t i = 0; at != NULL && i < s->count; i++) {
        struct wndl_rt_area *a = &s->all[i];
        const size_t count = wndl_rt_area_page_count(a);
        const struct wndl_rt_page_states states = {at, at + count, count};
        if (count != 0 && wndl_rt_own_pages_look(&s->own, a->start, &states))
            a->states = states;
        at += count + wndl_rt_pages_part_count(count);
    }
    return !s->own.too_many;
}

void wndl_rt_areas_forget_pages(struct wndl_rt_areas *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->all[i].states = (struct wndl_rt_page_states){0};
    if (s->states != NULL)
        wndl_raw_unmap(s->states, s->states_size);
}

enum wndl_rt_page wndl_rt_areas_pages_at(
    struct wndl_rt_areas *s, uintptr_t start, size_t *size)
{
    const struct wndl_rt_area *a = s->read;
    if (a == NULL || start - a->start >= a->end - a->start)
        a = s->read = area_before(s->all, s->count, start);
    if (a == NULL || start >= a->end || a->states.pages == NULL)
        return WNDL_RT_PAGE_OTHER;
    const size_t left = a->end - start;
    const uintptr_t end = start + (*size < left ? *size : left);
    const size_t first = start / WNDL_RT_PAGE - a->start / WNDL_RT_PAGE;
    const size_t last = (end - 1) / WNDL_RT_PAGE - a->start / WNDL_RT_PAGE;
    size_t next = wndl_rt_pages_next_touched(&a->states, first, last + 1);
    enum wndl_rt_page state = WNDL_RT_PAGE_UNTOUCHED;
    if (next == first) {
        state = (enum wndl_rt_page)a->states.pages[first];
        while (next <= last && a->states.pages[next] == state)
            next++;
    }
    if (next <= last)
        *size = wndl_rt_area_page(a, next) - start;
    else
        *size = end - start;
    return state;
}
