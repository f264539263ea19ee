/* SPDX-License-Identifier: MIT */
/*
 * Functions, inlined calls, line sequences and units may all claim the same
 * bytes: an inlined call is inside its function, and a linker may merge equal
 * functions or leave two units with the one copy it kept. The ranges are cut
 * into segments with one owner each, so that a lookup is one binary search.
 */
#include "base/search.h"
#include "dbg/dwarf/internal.h"

#include <string.h>

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

/*
 * Sorts runs of RUN ranges by insertion and merges them; stable, so that
 * ranges of one start stay in the order of their ids. The library's qsort
 * allocates, and calls back for each comparison.
 */
enum { RUN = 16 };

static void insertion_sort(struct wndl_dw_range *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct wndl_dw_range moved = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1].start > moved.start; at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
}

/* Merges the sorted [0, middle) and [middle, count) of `from`. */
static void merge(const struct wndl_dw_range *from, size_t middle, size_t count,
    struct wndl_dw_range *to)
{
    size_t a = 0;
    size_t b = middle;
    for (size_t i = 0; i < count; i++) {
        bool first =
            b == count || (a < middle && from[a].start <= from[b].start);
        to[i] = first ? from[a++] : from[b++];
    }
}

static void merge_runs(const struct wndl_dw_range *from, size_t count,
    size_t width, struct wndl_dw_range *to)
{
    for (size_t at = 0; at < count; at += 2 * width) {
        size_t left = count - at;
        size_t middle = width < left ? width : left;
        merge(from + at, middle, 2 * width < left ? 2 * width : left, to + at);
    }
}

/* `room` is for `count` ranges more. */
static void sort(
    struct wndl_dw_range *list, size_t count, struct wndl_dw_range *room)
{
    struct wndl_dw_range *from = list;
    struct wndl_dw_range *to = room;
    for (size_t at = 0; at < count; at += RUN)
        insertion_sort(list + at, count - at < RUN ? count - at : RUN);
    for (size_t width = RUN; width < count; width *= 2) {
        merge_runs(from, count, width, to);
        struct wndl_dw_range *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != list)
        memcpy(list, from, count * sizeof *list);
}

static bool is_sorted(const struct wndl_dw_range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (ranges[i].start < ranges[i - 1].start)
            return false;
    }
    return true;
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
 * Each turn begins or ends a range, so there are at most 2 * count turns and as
 * many segments.
 */
static void run_sweep(struct sweep *s)
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

enum wndl_status wndl_dw_make_cover(struct wndl_dwarf *d,
    struct wndl_vec *ranges, bool first_wins, struct wndl_dw_cover *cover)
{
    size_t count = ranges->len;
    *cover = (struct wndl_dw_cover){0};
    if (count == 0)
        return WNDL_OK;
    if (count > UINT32_MAX)
        return wndl_dw_damage(d, ".debug_info", 0, "too many ranges");
    d->heap.len = 0;
    d->segments.len = 0;
    if (!wndl_vec_reserve(&d->heap, count) ||
        !wndl_vec_reserve(&d->segments, 2 * count))
        return WNDL_NOMEM;
    if (!is_sorted(ranges->data, count))
        sort(ranges->data, count, d->segments.data);
    struct sweep s = {
        .ranges = ranges->data,
        .count = count,
        .first_wins = first_wins,
        .heap = d->heap.data,
        .out = d->segments.data,
    };
    run_sweep(&s);
    d->segments.len = s.out_count;
    struct wndl_vec kept;
    if (!wndl_dw_copy_vec(&d->segments, &kept))
        return WNDL_NOMEM;
    *cover = (struct wndl_dw_cover){kept.data, kept.len};
    return WNDL_OK;
}

size_t wndl_dw_cover_after(const struct wndl_dw_cover *cover, uint64_t address)
{
    if (cover->count == 0)
        return 0;
    return wndl_search_up_to(
        &cover->segments->end, sizeof *cover->segments, cover->count, address);
}

const struct wndl_dw_range *wndl_dw_cover_find(
    const struct wndl_dw_cover *cover, uint64_t address)
{
    size_t at = wndl_dw_cover_after(cover, address);
    if (at == cover->count || cover->segments[at].start > address)
        return NULL;
    return &cover->segments[at];
}
