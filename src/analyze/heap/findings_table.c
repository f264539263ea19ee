/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/findings_table.h"

#include <math.h>
#include <stdlib.h>

bool wndl_findings_table_init(struct wndl_findings_table *table,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem)
{
    wndl_arena_init(&table->arena, mem);
    wndl_vec_init(&table->rows, &table->arena, sizeof(struct wndl_heap_sums));
    return wndl_stack_filter_init(&table->filter, list, how, mem) &&
           wndl_intern_init(&table->keys, &table->arena);
}

void wndl_findings_table_free(struct wndl_findings_table *table)
{
    wndl_stack_filter_free(&table->filter);
    wndl_arena_free(&table->arena);
}

bool wndl_findings_table_find(struct wndl_findings_table *table,
    const struct wndl_findings_key *key, struct wndl_heap_sums **row)
{
    struct wndl_heap_stack stacks[2];
    uint32_t numbers[2];
    uint32_t id;
    bool passes;
    *row = NULL;
    if (!wndl_stack_filter_passes(&table->filter, key->leaves, 2, &passes))
        return false;
    if (!passes)
        return true;
    for (size_t i = 0; i < 2; i++) {
        if (!wndl_stack_filter_stack(
                &table->filter, key->leaves[i], &numbers[i], &stacks[i]))
            return false;
    }
    const uint64_t whole[] = {
        numbers[0], numbers[1], key->extra[0], key->extra[1]};
    struct wndl_bytes bytes = {(const uint8_t *)whole, sizeof whole};
    if (!wndl_intern_add(&table->keys, bytes, &id))
        return false;
    if (id > table->rows.len) { /* 0 is the empty string */
        struct wndl_heap_sums *fresh = wndl_vec_push(&table->rows);
        if (fresh == NULL)
            return false;
        fresh->finding.stack = stacks[0];
        fresh->finding.other = stacks[1];
    }
    *row = wndl_vec_at(&table->rows, id - 1);
    return true;
}

void wndl_findings_add(struct wndl_heap_sums *row,
    const struct wndl_alloc_site *site, uint64_t count, double weight)
{
    double blocks = (double)count * weight;
    double usable = (double)site->requested + (double)site->slop;
    double variance = blocks * (weight - 1);
    row->blocks_variance += variance;
    row->bytes_variance += variance * usable * usable;
    row->blocks += blocks;
    row->requested += blocks * (double)site->requested;
    row->slop += blocks * (double)site->slop;
}

static int compare_findings(const void *a, const void *b, void *context)
{
    const struct wndl_findings_order *order = context;
    const struct wndl_finding *f = a, *g = b;
    uint64_t x = order->size(f), y = order->size(g);
    if (x != y)
        return x > y ? -1 : 1;
    if (f->stack.leaf != g->stack.leaf)
        return f->stack.leaf < g->stack.leaf ? -1 : 1;
    if (f->other.leaf != g->other.leaf)
        return f->other.leaf < g->other.leaf ? -1 : 1;
    return (f->request > g->request) - (f->request < g->request);
}

static void sort_rows(
    struct wndl_vec *to, const struct wndl_findings_order *order)
{
    if (to->len != 0)
        qsort_r(to->data, to->len, sizeof(struct wndl_finding),
            compare_findings, (void *)order);
}

bool wndl_findings_table_take(struct wndl_findings_table *table,
    const struct wndl_findings_order *order, struct wndl_vec *to,
    struct wndl_heap_figures *total)
{
    struct wndl_heap_sums *from = table->rows.data;
    for (size_t i = 0; i < table->rows.len; i++) {
        struct wndl_heap_figures *f = &from[i].finding.figures;
        f->blocks = wndl_heap_whole(from[i].blocks);
        f->requested = wndl_heap_whole(from[i].requested);
        f->slop = wndl_heap_whole(from[i].slop);
        f->blocks_error = wndl_heap_error(from[i].blocks_variance);
        f->bytes_error = wndl_heap_error(from[i].bytes_variance);
        if (!order->wanted(&from[i].finding))
            continue;
        struct wndl_finding *slot = wndl_vec_push(to);
        if (slot == NULL)
            return false;
        *slot = from[i].finding;
        total->blocks = wndl_add_saturating(total->blocks, f->blocks);
        total->requested = wndl_add_saturating(total->requested, f->requested);
        total->slop = wndl_add_saturating(total->slop, f->slop);
        total->blocks_error = hypot(total->blocks_error, f->blocks_error);
        total->bytes_error = hypot(total->bytes_error, f->bytes_error);
    }
    sort_rows(to, order);
    return true;
}
