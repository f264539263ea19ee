/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/records.h"

#include "analyze/heap/stack_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sums of a record, before they are rounded. */
struct sums {
    double blocks, requested, slop;
    double blocks_variance, bytes_variance;
    double freed, temporary, lifetime;
};

/* Blocks of one size in a record, by number. */
struct part {
    uint32_t record;
    bool sampled;
    uint64_t usable;
    double blocks;
};

struct work {
    const struct wndl_heap_list *list;
    const struct wndl_heap_grouping *how;
    struct wndl_heap_records *out;
    struct wndl_arena scratch;
    struct wndl_stack_filter filter;
    struct wndl_intern keys; /* records, by the numbers of their stacks */
    struct wndl_vec sums;    /* struct sums, by record */
    struct wndl_vec parts;   /* struct part */
    struct sums total, in_records;
};

/* ---- records */

static bool record_of(
    struct work *w, const struct wndl_heap_blocks *b, uint32_t *record)
{
    struct wndl_heap_stack stacks[WNDL_HEAP_STACKS];
    uint32_t numbers[WNDL_HEAP_STACKS];
    uint32_t id;
    for (size_t i = 0; i < WNDL_HEAP_STACKS; i++) {
        if (!wndl_stack_filter_stack(
                &w->filter, b->stacks[i], &numbers[i], &stacks[i]))
            return false;
    }
    struct wndl_bytes key = {(const uint8_t *)numbers, sizeof numbers};
    if (!wndl_intern_add(&w->keys, key, &id))
        return false;
    *record = id - 1; /* 0 is the empty string */
    if (*record < w->out->records.len)
        return true;
    struct wndl_heap_record *fresh = wndl_vec_push(&w->out->records);
    if (fresh == NULL || wndl_vec_push(&w->sums) == NULL)
        return false;
    memcpy(fresh->stacks, stacks, sizeof stacks);
    return true;
}

/* ---- sums */

static void sum_up(struct sums *to, const struct wndl_heap_blocks *b)
{
    double count = (double)b->count;
    double estimate = count * b->weight;
    double usable = (double)b->requested + (double)b->slop;
    /*
     * A block that is sampled with probability p stands for 1/p blocks; the
     * variance of their number is (1-p)/p^2.
     */
    double variance = fabs(count) * b->weight * (b->weight - 1);
    to->blocks += estimate;
    to->requested += estimate * (double)b->requested;
    to->slop += estimate * (double)b->slop;
    to->blocks_variance += variance;
    to->bytes_variance += variance * usable * usable;
    to->freed += (double)b->freed * b->weight;
    to->temporary += (double)b->temporary * b->weight;
    to->lifetime += (double)b->lifetime * b->weight;
}

int64_t wndl_heap_whole(double value)
{
    const double limit = 9e18;
    return llround(value > limit ? limit : value < -limit ? -limit : value);
}

double wndl_heap_error(double variance)
{
    const double limit = 9e18;
    double error = sqrt(variance);
    return error < limit ? error : limit;
}

static struct wndl_heap_figures rounded_sums(const struct sums *s)
{
    double lifetime = s->freed > 0 ? s->lifetime / s->freed : 0;
    return (struct wndl_heap_figures){
        .blocks = wndl_heap_whole(s->blocks),
        .requested = wndl_heap_whole(s->requested),
        .slop = wndl_heap_whole(s->slop),
        .blocks_error = wndl_heap_error(s->blocks_variance),
        .bytes_error = wndl_heap_error(s->bytes_variance),
        .freed = wndl_heap_whole(s->freed),
        .temporary = wndl_heap_whole(s->temporary),
        .mean_lifetime = (uint64_t)wndl_heap_whole(lifetime),
    };
}

static bool add_blocks(struct work *w, const struct wndl_heap_blocks *b)
{
    uint32_t record;
    bool passes;
    sum_up(&w->total, b);
    if (!wndl_stack_filter_passes(
            &w->filter, b->stacks, WNDL_HEAP_STACKS, &passes))
        return false;
    if (!passes)
        return true;
    if (!record_of(w, b, &record))
        return false;
    sum_up(&w->in_records, b);
    sum_up(wndl_vec_at(&w->sums, record), b);
    struct part *part = wndl_vec_push(&w->parts);
    if (part == NULL)
        return false;
    *part = (struct part){
        .record = record,
        .sampled = b->weight > 1,
        .usable = b->requested + b->slop,
        .blocks = (double)b->count * b->weight,
    };
    return true;
}

/* ---- sizes */

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->record != y->record)
        return x->record < y->record ? -1 : 1;
    return (x->usable < y->usable) - (x->usable > y->usable);
}

/*
 * Takes the parts from *at on that have the first one's size, and moves *at
 * after them.
 */
static struct wndl_heap_size take_size(const struct work *w, size_t *at)
{
    const struct part *parts = w->parts.data;
    const struct part *first = &parts[*at];
    struct wndl_heap_size size = {.usable = first->usable};
    double blocks = 0;
    for (; *at < w->parts.len && compare_parts(first, &parts[*at]) == 0;
         ++*at) {
        blocks += parts[*at].blocks;
        size.sampled |= parts[*at].sampled;
    }
    size.blocks = wndl_heap_whole(blocks);
    return size;
}

static bool add_sizes(struct work *w)
{
    if (w->parts.len != 0)
        qsort(w->parts.data, w->parts.len, sizeof(struct part), compare_parts);
    for (size_t at = 0; at < w->parts.len;) {
        const struct part *part = wndl_vec_at(&w->parts, at);
        struct wndl_heap_record *record =
            wndl_vec_at(&w->out->records, part->record);
        struct wndl_heap_size size = take_size(w, &at);
        if (size.blocks == 0)
            continue;
        struct wndl_heap_size *slot = wndl_vec_push(&w->out->sizes);
        if (slot == NULL)
            return false;
        *slot = size;
        if (record->size_count++ == 0)
            record->first_size = (uint32_t)(w->out->sizes.len - 1);
    }
    return true;
}

/* ---- the order of records */

static bool is_empty(const struct wndl_heap_record *r)
{
    return r->figures.blocks == 0 && r->figures.requested == 0 &&
           r->figures.slop == 0 && r->size_count == 0;
}

static void finish_records(struct work *w)
{
    struct wndl_vec *records = &w->out->records;
    size_t kept = 0;
    for (size_t i = 0; i < records->len; i++) {
        struct wndl_heap_record *r = wndl_vec_at(records, i);
        r->figures = rounded_sums(wndl_vec_at(&w->sums, i));
        if (!is_empty(r))
            *(struct wndl_heap_record *)wndl_vec_at(records, kept++) = *r;
    }
    records->len = kept;
}

static uint64_t size_by(
    const struct wndl_heap_record *r, enum wndl_heap_sort sort)
{
    const struct wndl_heap_figures *f = &r->figures;
    int64_t value = sort == WNDL_HEAP_BY_REQUESTED ? f->requested
                    : sort == WNDL_HEAP_BY_SLOP    ? f->slop
                    : sort == WNDL_HEAP_BY_BLOCKS  ? f->blocks
                                                   : wndl_heap_usable(f);
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static int compare_texts(struct wndl_bytes a, struct wndl_bytes b)
{
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_stacks(const struct wndl_heap_list *list,
    struct wndl_heap_stack a, struct wndl_heap_stack b)
{
    for (; a.count != 0 && b.count != 0; a.count--, b.count--) {
        const struct wndl_heap_frame *x = wndl_heap_frame_at(list, a.leaf);
        const struct wndl_heap_frame *y = wndl_heap_frame_at(list, b.leaf);
        if (x->text != y->text)
            return compare_texts(wndl_intern_get(&list->strings, x->text),
                wndl_intern_get(&list->strings, y->text));
        a.leaf = x->caller;
        b.leaf = y->caller;
    }
    return (a.count > b.count) - (a.count < b.count);
}

static int compare_records(const void *a, const void *b, void *context)
{
    const struct work *w = context;
    const struct wndl_heap_record *x = a, *y = b;
    const enum wndl_heap_sort by[] = {w->how->sort, WNDL_HEAP_BY_USABLE,
        WNDL_HEAP_BY_REQUESTED, WNDL_HEAP_BY_BLOCKS};
    for (size_t i = 0; i < sizeof by / sizeof by[0]; i++) {
        uint64_t p = size_by(x, by[i]), q = size_by(y, by[i]);
        if (p != q)
            return p > q ? -1 : 1;
    }
    int order = 0;
    for (size_t i = 0; i < WNDL_HEAP_STACKS && order == 0; i++)
        order = compare_stacks(w->list, x->stacks[i], y->stacks[i]);
    return order;
}

/* ---- all of it */

static bool group_blocks(struct work *w)
{
    if (!wndl_intern_init(&w->keys, &w->scratch))
        return false;
    const struct wndl_heap_blocks *blocks = w->list->blocks.data;
    for (size_t i = 0; i < w->list->blocks.len; i++) {
        if (!add_blocks(w, &blocks[i]))
            return false;
    }
    if (!add_sizes(w))
        return false;
    finish_records(w);
    w->out->total = rounded_sums(&w->total);
    w->out->shown = rounded_sums(&w->in_records);
    struct wndl_vec *records = &w->out->records;
    if (records->len != 0)
        qsort_r(records->data, records->len, sizeof(struct wndl_heap_record),
            compare_records, w);
    return true;
}

bool wndl_heap_records_fill(struct wndl_heap_records *r,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem)
{
    *r = (struct wndl_heap_records){.list = list};
    wndl_arena_init(&r->arena, mem);
    wndl_vec_init(&r->records, &r->arena, sizeof(struct wndl_heap_record));
    wndl_vec_init(&r->sizes, &r->arena, sizeof(struct wndl_heap_size));
    struct work w = {.list = list, .how = how, .out = r};
    wndl_arena_init(&w.scratch, mem);
    wndl_vec_init(&w.sums, &w.scratch, sizeof(struct sums));
    wndl_vec_init(&w.parts, &w.scratch, sizeof(struct part));
    bool done =
        wndl_stack_filter_init(&w.filter, list, how, mem) && group_blocks(&w);
    wndl_stack_filter_free(&w.filter);
    wndl_arena_free(&w.scratch);
    return done;
}

void wndl_heap_records_free(struct wndl_heap_records *r)
{
    wndl_arena_free(&r->arena);
}
