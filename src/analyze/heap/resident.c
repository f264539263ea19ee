/* SPDX-License-Identifier: MIT */
#include "analyze/heap/resident.h"

#include <stdlib.h>

/* From `time` on, the process of a row has so much. NULL: it has ended. */
struct change {
    uint64_t time;
    const struct wndl_heap_memory *memory;
    uint32_t row;
    uint32_t order; /* of equal times */
};

struct sweep {
    struct wndl_arena arena;
    struct wndl_vec changes; /* struct change */
    /* By row: what counts at this moment. */
    const struct wndl_heap_memory **of_rows;
    struct wndl_heap_resident now;
    uint64_t last; /* the time of the last measurement */
};

static bool add_change(struct sweep *s, uint64_t time, uint32_t row,
    const struct wndl_heap_memory *memory)
{
    struct change *change = wndl_vec_push(&s->changes);
    if (change == NULL)
        return false;
    *change =
        (struct change){time, memory, row, (uint32_t)(s->changes.len - 1)};
    return true;
}

static bool add_heap(struct sweep *s, const struct wndl_profile *p,
    const struct wndl_process_heap *heap, uint32_t row)
{
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, heap->process);
    const struct wndl_heap_memory *memory = heap->memory.data;
    bool added = true;
    for (size_t i = 0; i < heap->memory.len && added; i++) {
        added = add_change(s, memory[i].time, row, &memory[i]);
        s->last = memory[i].time > s->last ? memory[i].time : s->last;
    }
    if (heap->memory.len == 0 || !added || process->end == UINT64_MAX)
        return added;
    return add_change(s, process->end + 1, row, NULL);
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Sums of foreign numbers may wrap; what was added is subtracted again. */
static void count(struct wndl_heap_resident *to,
    const struct wndl_heap_memory *memory, uint64_t sign)
{
    uint64_t parts[WNDL_RESIDENT_PARTS];
    if (memory == NULL)
        return;
    wndl_heap_memory_divide(memory, parts);
    for (size_t i = 0; i < WNDL_RESIDENT_PARTS; i++) {
        to->parts[i] += sign * parts[i];
        to->all += sign * parts[i];
    }
    to->proportional += sign * memory->sum.proportional;
    to->mapped += sign * memory->sum.mapped;
}

/* Notes the moment before `next`, up to which nothing changes. */
static void note_moments(struct wndl_heap_report *r, const struct sweep *s,
    size_t *part, uint64_t next)
{
    for (; *part < WNDL_HEAP_PARTS && r->parts[*part].time < next; ++*part) {
        r->resident_parts[*part] = s->now;
        r->resident_parts[*part].time = r->parts[*part].time;
    }
    if (s->now.time < next && s->now.all > r->resident_most.all)
        r->resident_most = s->now;
    if (s->now.time <= s->last)
        r->resident_last = s->now;
}

static void sweep_over(struct wndl_heap_report *r, struct sweep *s)
{
    const struct change *changes = s->changes.data;
    size_t part = 0;
    for (size_t i = 0; i < s->changes.len; i++) {
        const struct change *c = &changes[i];
        note_moments(r, s, &part, c->time);
        count(&s->now, s->of_rows[c->row], (uint64_t)-1);
        count(&s->now, c->memory, 1);
        s->of_rows[c->row] = c->memory;
        s->now.time = c->time;
    }
    note_moments(r, s, &part, UINT64_MAX);
}

bool wndl_heap_resident_fill(struct wndl_heap_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    const struct wndl_heap_row *rows = r->rows.data;
    struct sweep s = {.last = 0};
    bool filled = true;
    wndl_arena_init(&s.arena, r->arena.mem);
    wndl_vec_init(&s.changes, &s.arena, sizeof(struct change));
    for (size_t i = 0; i < r->rows.len && filled; i++)
        filled =
            add_heap(&s, p, wndl_vec_at(&p->heaps, rows[i].heap), (uint32_t)i);
    s.of_rows =
        wndl_arena_calloc(&s.arena, r->rows.len + 1, sizeof(*s.of_rows));
    filled = filled && s.of_rows != NULL;
    r->resident_known = filled && s.changes.len != 0;
    if (r->resident_known) {
        qsort(s.changes.data, s.changes.len, sizeof(struct change),
            compare_changes);
        sweep_over(r, &s);
    }
    wndl_arena_free(&s.arena);
    return filled;
}
