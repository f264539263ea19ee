/* SPDX-License-Identifier: MIT */
#include "model/timeline.h"

#include <stdlib.h>

static void count_moments(
    size_t *starts, const struct wndl_profile *p, enum wndl_time time)
{
    struct wndl_cost_item item;
    size_t at = 0, sum = 0;
    while (wndl_costs_next(p, time, &at, &item))
        starts[item.thread + 1]++;
    for (size_t t = 0; t <= p->threads.len; t++) {
        sum += starts[t];
        starts[t] = sum;
    }
}

/* The start of the item from the last call of wndl_costs_next. */
static uint64_t time_at(const struct wndl_profile *p, size_t at, bool ran)
{
    if (ran)
        return ((const struct wndl_sample *)wndl_vec_at(&p->samples, at))->time;
    const struct wndl_block *block =
        wndl_vec_at(&p->blocks, at - p->samples.len);
    return block->start;
}

/* Each thread's start moves to its end, which is the next thread's start. */
static void place_moments(struct wndl_timeline *line, size_t *next,
    const struct wndl_profile *p, enum wndl_time time)
{
    struct wndl_cost_item item;
    size_t at = 0;
    while (wndl_costs_next(p, time, &at, &item)) {
        bool ran = at <= p->samples.len;
        line->moments[next[item.thread]++] = (struct wndl_moment){
            .time = time_at(p, at - 1, ran),
            .spent = item.cost.time,
            .thread = item.thread,
            .node = item.node,
            .label = (uint8_t)wndl_cost_item_label(&item),
            .ran = ran,
        };
    }
}

/* A block that begins at a sample follows it; no two moments are equal. */
static int compare_moments(const void *a, const void *b)
{
    const struct wndl_moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->ran != y->ran)
        return x->ran ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->spent > y->spent) - (x->spent < y->spent);
}

static void sort_thread(struct wndl_moment *moments, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (compare_moments(&moments[i - 1], &moments[i]) > 0) {
            qsort(moments, count, sizeof *moments, compare_moments);
            return;
        }
    }
}

bool wndl_timeline_make(struct wndl_timeline *line,
    const struct wndl_profile *p, enum wndl_time time, struct wndl_arena *arena)
{
    size_t threads = p->threads.len;
    size_t *starts = wndl_arena_calloc(arena, threads + 2, sizeof *starts);
    size_t *next = wndl_arena_calloc(arena, threads + 1, sizeof *next);
    if (starts == NULL || next == NULL)
        return false;
    count_moments(starts, p, time);
    for (size_t t = 0; t < threads; t++)
        next[t] = starts[t];
    line->starts = starts;
    line->moments =
        wndl_arena_calloc(arena, starts[threads] + 1, sizeof *line->moments);
    if (line->moments == NULL)
        return false;
    place_moments(line, next, p, time);
    for (size_t t = 0; t < threads; t++)
        sort_thread(line->moments + starts[t], starts[t + 1] - starts[t]);
    return true;
}
