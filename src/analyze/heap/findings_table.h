/* SPDX-License-Identifier: MIT */
/*
 * findings_table: findings summed up by their stacks as far as those are shown.
 */
#ifndef WNDL_ANALYZE_HEAP_FINDINGS_TABLE_H
#define WNDL_ANALYZE_HEAP_FINDINGS_TABLE_H

#include "analyze/heap/stack_filter.h"
#include "model/heap_report.h"

/* What rows are told apart by: two stacks and two numbers. */
struct wndl_findings_key {
    uint32_t leaves[2];
    uint64_t extra[2];
};

/* A row, and what it adds up before it is rounded. */
struct wndl_heap_sums {
    struct wndl_finding finding;
    double blocks, requested, slop;
    double blocks_variance, bytes_variance;
};

struct wndl_findings_table {
    struct wndl_arena arena;
    struct wndl_stack_filter filter;
    struct wndl_intern keys;
    struct wndl_vec rows; /* struct wndl_heap_sums */
};

/* `list` and `how` must outlive it; ends with wndl_findings_table_free in any
 * case. False when memory is out. */
bool wndl_findings_table_init(struct wndl_findings_table *table,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem);
void wndl_findings_table_free(struct wndl_findings_table *table);

/*
 * The row of `key`, added with its stacks if new, valid until the next is
 * asked for; NULL if filters leave it out. False when memory is out.
 */
bool wndl_findings_table_find(struct wndl_findings_table *table,
    const struct wndl_findings_key *key, struct wndl_heap_sums **row);

/* Adds `count` blocks of the site's size, of which each stands for `weight`. */
void wndl_findings_add(struct wndl_heap_sums *row,
    const struct wndl_alloc_site *site, uint64_t count, double weight);

/* How rows are chosen and ordered. */
struct wndl_findings_order {
    bool (*wanted)(const struct wndl_finding *row);
    uint64_t (*size)(const struct wndl_finding *row); /* the largest first */
};

/*
 * Moves what is wanted to `to` (struct wndl_finding), in order, and sums its
 * blocks up. False when memory is out.
 */
bool wndl_findings_table_take(struct wndl_findings_table *table,
    const struct wndl_findings_order *order, struct wndl_vec *to,
    struct wndl_heap_figures *total);

#endif
