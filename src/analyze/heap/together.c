/* SPDX-License-Identifier: MIT */
#include "analyze/heap/together.h"

#include <stdlib.h>

/* From `time` on, the heap of a row has so many live bytes. */
struct change {
    uint64_t time, bytes;
    uint32_t row;
    uint32_t order; /* of equal times */
};

struct sweep {
    struct wndl_arena arena;
    struct wndl_vec changes; /* struct change */
    uint64_t last;           /* the time of the last snapshot */
};

static bool add_change(
    struct sweep *s, uint64_t time, uint32_t row, uint64_t bytes)
{
    struct change *change = wndl_vec_push(&s->changes);
    if (change == NULL)
        return false;
    *change = (struct change){time, bytes, row, (uint32_t)(s->changes.len - 1)};
    return true;
}

/* A process that has ended holds nothing. */
static bool add_heap(
    struct sweep *s, const struct wndl_process_heap *heap, uint32_t row)
{
    const struct wndl_heap_snapshot *kept = wndl_heap_kept(heap);
    const struct wndl_heap_moment *moments = heap->moments.data;
    bool added = true;
    for (size_t i = 0; i < heap->moments.len && added; i++)
        added = add_change(s, moments[i].time, row, moments[i].bytes);
    if (kept == NULL || !added)
        return added;
    added = add_change(s, kept->totals[WNDL_HEAP_TOTAL_PEAK_TIME], row,
                kept->totals[WNDL_HEAP_TOTAL_PEAK_BYTES]) &&
            add_change(s, kept->time, row, wndl_heap_live_bytes(kept));
    s->last = kept->time > s->last ? kept->time : s->last;
    if (kept->why == WNDL_SNAPSHOT_END && added)
        added = add_change(s, kept->time + 1, row, 0);
    return added;
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void find_most(
    struct wndl_heap_together *t, const struct sweep *s, uint64_t *of_rows)
{
    const struct change *changes = s->changes.data;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->changes.len; i++) {
        const struct change *c = &changes[i];
        sum = sum - of_rows[c->row] + c->bytes;
        of_rows[c->row] = c->bytes;
        if (sum > t->peak_bytes) {
            t->peak_bytes = sum;
            t->peak_time = c->time;
        }
        if (c->time <= s->last)
            t->last_bytes = sum;
    }
}

bool wndl_heap_together_fill(struct wndl_heap_report *r)
{
    const struct wndl_heap_row *rows = r->rows.data;
    struct sweep s = {.last = 0};
    bool filled = true;
    wndl_arena_init(&s.arena, r->arena.mem);
    wndl_vec_init(&s.changes, &s.arena, sizeof(struct change));
    for (size_t i = 0; i < r->rows.len && filled; i++)
        filled = add_heap(&s,
            wndl_vec_at(&r->symbolized->profile->heaps, rows[i].heap),
            (uint32_t)i);
    uint64_t *of_rows =
        wndl_arena_calloc(&s.arena, r->rows.len + 1, sizeof *of_rows);
    filled = filled && of_rows != NULL;
    if (filled && s.changes.len != 0) {
        qsort(s.changes.data, s.changes.len, sizeof(struct change),
            compare_changes);
        find_most(&r->together, &s, of_rows);
    }
    r->together.last_time = s.last;
    wndl_arena_free(&s.arena);
    return filled;
}
