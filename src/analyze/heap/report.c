/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/report.h"

#include "analyze/heap/findings.h"
#include "analyze/heap/resident.h"
#include "analyze/heap/resident_places.h"
#include "analyze/heap/together.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>

bool wndl_heap_chosen(const struct wndl_profile *p,
    const struct wndl_process_heap *heap, const struct wndl_heap_choice *choice)
{
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, heap->process);
    return (choice->pid == 0 || choice->pid == process->pid) &&
           (choice->only == NULL || choice->only == heap);
}

/* ---- how good the stacks are */

static void add_bounded(uint64_t *to, uint64_t value)
{
    if (__builtin_add_overflow(*to, value, to))
        *to = UINT64_MAX;
}

static uint64_t whole(double value)
{
    return value < 1e18 ? (uint64_t)llround(value) : (uint64_t)1e18;
}

/* The state of a site's stack. */
enum part { COMPLETE, GUESSED, TRUNCATED, LOST, NONE, PARTS };

static enum part part_of(const struct wndl_alloc_site *site)
{
    if (site->node == 0)
        return NONE;
    switch (site->end) {
    case WNDL_WALK_COMPLETE:
        return COMPLETE;
    case WNDL_WALK_FP_ROOT:
        return GUESSED;
    case WNDL_WALK_TRUNCATED:
        return TRUNCATED;
    default:
        return LOST;
    }
}

static void look_at_stacks(
    const struct wndl_process_heap *heap, struct wndl_heap_sum *sum)
{
    double parts[PARTS] = {0};
    const struct wndl_alloc_counts *counts = heap->counts.data;
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts[i].site);
        parts[part_of(site)] +=
            (double)counts[i].allocs * wndl_alloc_weight(heap, site);
    }
    sum->quality = (struct wndl_heap_quality){
        .allocs = sum->totals[WNDL_HEAP_TOTAL_ALLOCS],
        .complete = whole(parts[COMPLETE]),
        .guessed = whole(parts[GUESSED]),
        .truncated = whole(parts[TRUNCATED]),
        .lost = whole(parts[LOST]),
        .none = whole(parts[NONE]),
        .damaged = heap->lost,
    };
    for (size_t i = 0; i < WNDL_HEAP_MISSED_REASONS; i++)
        add_bounded(&sum->quality.missed, sum->missed[i]);
}

/* ---- sums */

static void sum_heap(
    const struct wndl_process_heap *heap, struct wndl_heap_sum *sum)
{
    const struct wndl_heap_snapshot *s = wndl_heap_kept(heap);
    *sum = (struct wndl_heap_sum){0};
    if (s == NULL)
        return;
    for (size_t i = 0; i < WNDL_HEAP_TOTALS; i++)
        sum->totals[i] = s->totals[i];
    for (size_t i = 0; i < WNDL_HEAP_MISSED_REASONS; i++)
        sum->missed[i] = s->missed[i];
    sum->live_blocks = wndl_heap_live_blocks(s);
    sum->live_bytes = wndl_heap_live_bytes(s);
    look_at_stacks(heap, sum);
}

static void add_quality(
    struct wndl_heap_quality *to, const struct wndl_heap_quality *q)
{
    add_bounded(&to->allocs, q->allocs);
    add_bounded(&to->complete, q->complete);
    add_bounded(&to->guessed, q->guessed);
    add_bounded(&to->truncated, q->truncated);
    add_bounded(&to->lost, q->lost);
    add_bounded(&to->none, q->none);
    add_bounded(&to->damaged, q->damaged);
    add_bounded(&to->missed, q->missed);
}

/* Peaks are at different times: the sum has the highest. */
static void add_sum(
    struct wndl_heap_report *r, uint32_t heap, const struct wndl_heap_sum *sum)
{
    enum { PEAK = WNDL_HEAP_TOTAL_PEAK_BYTES, AT = WNDL_HEAP_TOTAL_PEAK_TIME };
    struct wndl_heap_sum *all = &r->all;
    bool highest =
        r->peak_heap == WNDL_NO_INDEX || sum->totals[PEAK] > all->totals[PEAK];
    uint64_t peak = highest ? sum->totals[PEAK] : all->totals[PEAK];
    uint64_t at = highest ? sum->totals[AT] : all->totals[AT];
    r->peak_heap = highest ? heap : r->peak_heap;
    add_bounded(&all->live_blocks, sum->live_blocks);
    add_bounded(&all->live_bytes, sum->live_bytes);
    for (size_t i = 0; i < WNDL_HEAP_TOTALS; i++)
        add_bounded(&all->totals[i], sum->totals[i]);
    for (size_t i = 0; i < WNDL_HEAP_MISSED_REASONS; i++)
        add_bounded(&all->missed[i], sum->missed[i]);
    all->totals[PEAK] = peak;
    all->totals[AT] = at;
    add_quality(&all->quality, &sum->quality);
}

static int compare_rows(const void *a, const void *b)
{
    const struct wndl_heap_row *x = a, *y = b;
    uint64_t p = x->sum.totals[WNDL_HEAP_TOTAL_PEAK_BYTES];
    uint64_t q = y->sum.totals[WNDL_HEAP_TOTAL_PEAK_BYTES];
    if (p != q)
        return p > q ? -1 : 1;
    return (x->heap > y->heap) - (x->heap < y->heap);
}

static bool add_row(struct wndl_heap_report *r, uint32_t i)
{
    const struct wndl_process_heap *heap =
        wndl_vec_at(&r->symbolized->profile->heaps, i);
    struct wndl_heap_row *row = wndl_vec_push(&r->rows);
    if (row == NULL)
        return false;
    row->heap = i;
    sum_heap(heap, &row->sum);
    add_sum(r, i, &row->sum);
    r->cumulative |= heap->cumulative;
    if (heap->sample_below > r->sample_below)
        r->sample_below = heap->sample_below;
    return true;
}

static bool add_rows(
    struct wndl_heap_report *r, const struct wndl_heap_choice *choice)
{
    const struct wndl_profile *p = r->symbolized->profile;
    const struct wndl_process_heap *heaps = p->heaps.data, *only = choice->only;
    size_t first = only == NULL ? 0 : (size_t)(only - heaps);
    size_t end = only == NULL ? p->heaps.len : first + 1;
    for (size_t i = first; i < end; i++) {
        if (wndl_heap_chosen(p, &heaps[i], choice) && !add_row(r, (uint32_t)i))
            return false;
    }
    if (r->rows.len != 0)
        qsort(r->rows.data, r->rows.len, sizeof(struct wndl_heap_row),
            compare_rows);
    return true;
}

/* ---- over time */

/* The last moment of a heap until `time`; NULL if there is none. */
static const struct wndl_heap_moment *moment_until(
    const struct wndl_process_heap *heap, uint64_t time)
{
    const struct wndl_heap_moment *moments = heap->moments.data;
    size_t count = heap->moments.len;
    size_t until = count == 0 ? 0
                              : wndl_search_up_to(&moments->time,
                                    sizeof *moments, count, time);
    return until == 0 ? NULL : &moments[until - 1];
}

static void add_part(struct wndl_heap_report *r, struct wndl_heap_moment *part)
{
    const struct wndl_profile *p = r->symbolized->profile;
    const struct wndl_heap_row *rows = r->rows.data;
    for (size_t i = 0; i < r->rows.len; i++) {
        const struct wndl_process_heap *heap =
            wndl_vec_at(&p->heaps, rows[i].heap);
        const struct wndl_process *process =
            wndl_vec_at(&p->processes, heap->process);
        const struct wndl_heap_moment *moment = moment_until(heap, part->time);
        if (moment == NULL)
            continue;
        r->parts_known = true;
        if (process->end < part->time)
            continue;
        add_bounded(&part->bytes, moment->bytes);
        add_bounded(&part->blocks, moment->blocks);
    }
}

static void add_parts(struct wndl_heap_report *r)
{
    uint64_t duration = r->symbolized->profile->duration;
    uint64_t half = duration / WNDL_HEAP_PARTS / 2;
    for (uint64_t i = 0; i < WNDL_HEAP_PARTS; i++) {
        r->parts[i].time = half * (2 * i + 1);
        add_part(r, &r->parts[i]);
    }
}

/* ---- all of it */

static bool add_blocks(struct wndl_heap_report *r,
    struct wndl_stack_texts *stacks, enum wndl_heap_set set)
{
    const struct wndl_profile *p = r->symbolized->profile;
    const struct wndl_heap_row *rows = r->rows.data;
    for (size_t i = 0; i < r->rows.len; i++) {
        if (!wndl_heap_sites_add_reported(stacks,
                wndl_vec_at(&p->heaps, rows[i].heap), set, WNDL_HEAP_SIDE_ONLY))
            return false;
    }
    return true;
}

/* The largest first; a few frames distinguish them. */
static bool fill_holders(
    struct wndl_heap_report *r, const struct wndl_heap_choice *choice)
{
    enum { FRAMES = 3 };
    struct wndl_stack_texts stacks;
    const struct wndl_heap_grouping grouping = {
        .max_frames = FRAMES,
        .ignore_alloc_fns = true,
        .filters = choice->grouping.filters,
    };
    const struct wndl_process_heap *heap =
        r->peak_heap == WNDL_NO_INDEX || choice->without_findings
            ? NULL
            : wndl_vec_at(&r->symbolized->profile->heaps, r->peak_heap);
    bool filled =
        wndl_stack_texts_init(&stacks, &r->peak_list, r->symbolized) &&
        (heap == NULL || wndl_heap_sites_add(&stacks, heap, WNDL_HEAP_SET_PEAK,
                             WNDL_HEAP_SIDE_ONLY));
    wndl_stack_texts_free(&stacks);
    return filled && wndl_heap_records_fill(
                         &r->holders, &r->peak_list, &grouping, r->arena.mem);
}

static bool fill_report(
    struct wndl_heap_report *r, const struct wndl_heap_choice *choice)
{
    struct wndl_stack_texts stacks;
    bool filled = wndl_stack_texts_init(&stacks, &r->list, r->symbolized) &&
                  add_rows(r, choice);
    add_parts(r);
    filled = filled &&
             (choice->without_findings ||
                 wndl_heap_findings_fill(r, &stacks, choice)) &&
             add_blocks(r, &stacks, choice->set);
    wndl_stack_texts_free(&stacks);
    return filled;
}

const char *wndl_heap_set_name(enum wndl_heap_set set)
{
    static const char *const names[] = {
        [WNDL_HEAP_SET_LIVE] = "live",
        [WNDL_HEAP_SET_PEAK] = "peak",
        [WNDL_HEAP_SET_ALL] = "all",
        [WNDL_HEAP_SET_TEMPORARY] = "temporary",
    };
    return names[set];
}

bool wndl_heap_report_fill(struct wndl_heap_report *r,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    struct wndl_mem *mem)
{
    *r = (struct wndl_heap_report){.symbolized = s,
        .which = wndl_heap_set_name(choice->set),
        .peak_heap = WNDL_NO_INDEX};
    wndl_arena_init(&r->arena, mem);
    wndl_arena_init(&r->records.arena, mem);
    wndl_arena_init(&r->holders.arena, mem);
    wndl_vec_init(&r->rows, &r->arena, sizeof(struct wndl_heap_row));
    wndl_vec_init(&r->places, &r->arena, sizeof(struct wndl_resident_place));
    for (size_t i = 0; i < WNDL_FINDINGS; i++)
        wndl_vec_init(
            &r->findings.rows[i], &r->arena, sizeof(struct wndl_finding));
    bool made = wndl_heap_list_init(&r->list, mem);
    made = wndl_heap_list_init(&r->peak_list, mem) && made;
    return made && fill_report(r, choice) && wndl_heap_together_fill(r) &&
           wndl_heap_resident_fill(r) && wndl_heap_resident_places_fill(r) &&
           fill_holders(r, choice) &&
           wndl_heap_records_fill(
               &r->records, &r->list, &choice->grouping, mem);
}

void wndl_heap_report_free(struct wndl_heap_report *r)
{
    wndl_heap_records_free(&r->holders);
    wndl_heap_list_free(&r->peak_list);
    wndl_heap_records_free(&r->records);
    wndl_heap_list_free(&r->list);
    wndl_arena_free(&r->arena);
}
