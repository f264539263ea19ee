/* SPDX-License-Identifier: MIT */
/*
 * Functions, inlined calls, line sequences and units may all claim the same
 * bytes: an inlined call lies in its function, a linker may merge equal
 * functions or leave two units with the one copy it kept. Cut into segments
 * with one owner each, a lookup is one binary search.
 */
#include "dbg/dwarf_internal.h"

#include <stdlib.h>

/* A sweep over addresses. `heap` holds indexes of the ranges that began; its
 * top is the owner. Ended ones leave when they come to the top. */
struct sweep {
    const struct wndl_dw_range *ranges;
    size_t count;
    size_t next; /* first range that has not begun */
    bool first_wins;
    uint32_t *heap;
    size_t heap_size;
    struct wndl_dw_range *out;
    size_t out_count;
};

static int by_start(const void *a, const void *b)
{
    const struct wndl_dw_range *x = a;
    const struct wndl_dw_range *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool owns(const struct sweep *s, uint32_t a, uint32_t b)
{
    uint32_t x = s->ranges[a].id;
    uint32_t y = s->ranges[b].id;
    return s->first_wins ? x < y : x > y;
}

static void heap_push(struct sweep *s, uint32_t index)
{
    size_t i = s->heap_size++;
    for (; i > 0 && owns(s, index, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = index;
}

static void heap_pop(struct sweep *s)
{
    uint32_t moved = s->heap[--s->heap_size];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->heap_size)
            break;
        if (child + 1 < s->heap_size &&
            owns(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!owns(s, s->heap[child], moved))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = moved;
}

static void emit(struct sweep *s, uint64_t start, uint64_t end, uint32_t id)
{
    struct wndl_dw_range *last =
        s->out_count == 0 ? NULL : &s->out[s->out_count - 1];
    if (last != NULL && last->id == id && last->end == start)
        last->end = end;
    else
        s->out[s->out_count++] = (struct wndl_dw_range){start, end, id};
}

/*
 * Each turn begins a range or ends one, so there are at most 2 * count turns
 * and as many segments.
 */
static void run(struct sweep *s)
{
    uint64_t at = 0;
    while (s->next < s->count || s->heap_size > 0) {
        if (s->heap_size == 0)
            at = s->ranges[s->next].start;
        while (s->next < s->count && s->ranges[s->next].start <= at)
            heap_push(s, (uint32_t)s->next++);
        while (s->heap_size > 0 && s->ranges[s->heap[0]].end <= at)
            heap_pop(s);
        if (s->heap_size == 0)
            continue;
        const struct wndl_dw_range *owner = &s->ranges[s->heap[0]];
        uint64_t until = owner->end;
        if (s->next < s->count && s->ranges[s->next].start < until)
            until = s->ranges[s->next].start;
        emit(s, at, until, owner->id);
        at = until;
    }
}

static bool is_sorted(const struct wndl_dw_range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (by_start(&ranges[i - 1], &ranges[i]) > 0)
            return false;
    }
    return true;
}

static bool has_overlap(const struct wndl_dw_range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (ranges[i].start < ranges[i - 1].end)
            return true;
    }
    return false;
}

enum wndl_status wndl_dw_make_cover(struct wndl_dwarf *d,
    struct wndl_vec *ranges, bool first_wins, struct wndl_dw_cover *cover)
{
    struct wndl_dw_range *list = ranges->data;
    size_t count = ranges->len;
    *cover = (struct wndl_dw_cover){0};
    if (count == 0)
        return WNDL_OK;
    if (count > UINT32_MAX)
        return wndl_dw_damage(d, ".debug_info", 0, "too many ranges");
    if (!is_sorted(list, count))
        qsort(list, count, sizeof *list, by_start);
    bool overlap = has_overlap(list, count);
    struct sweep s = {
        .ranges = list,
        .count = count,
        .first_wins = first_wins,
        .out = wndl_arena_calloc(
            &d->arena, overlap ? 2 * count : count, sizeof *s.out),
    };
    d->heap.len = 0;
    if (s.out == NULL || !wndl_vec_reserve(&d->heap, overlap ? count : 1))
        return WNDL_NOMEM;
    s.heap = d->heap.data;
    run(&s);
    *cover = (struct wndl_dw_cover){s.out, s.out_count};
    return WNDL_OK;
}

const struct wndl_dw_range *wndl_dw_cover_find(
    const struct wndl_dw_cover *cover, uint64_t address)
{
    size_t low = 0;
    size_t high = cover->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (cover->segments[mid].end <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == cover->count || cover->segments[low].start > address)
        return NULL;
    return &cover->segments[low];
}
