/* SPDX-License-Identifier: MIT */
/*
 * findings_table: findings summed by their stacks, as far as those are shown.
 */
#ifndef WNDL_ANALYZE_HEAP_FINDINGS_TABLE_H
#define WNDL_ANALYZE_HEAP_FINDINGS_TABLE_H

#include "analyze/heap/stack_filter.h"
#include "model/heap_report.h"

/* The key of a row: two stacks and two numbers. */
struct wndl_findings_key {
    uint32_t leaves[2];
    uint64_t extra[2];
};

/* A row, and its sums before they are rounded. */
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

/*
 * Makes an empty table. `list` and `how` must outlive it. Ends with
 * wndl_findings_table_free, even after a failure. False when memory is out.
 */
bool wndl_findings_table_init(struct wndl_findings_table *table,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem);
void wndl_findings_table_free(struct wndl_findings_table *table);

/*
 * Sets *row to the row of `key`, added with its stacks if new; NULL if filters
 * leave it out. Valid until the next call. False when memory is out.
 */
bool wndl_findings_table_find(struct wndl_findings_table *table,
    const struct wndl_findings_key *key, struct wndl_heap_sums **row);

/* Adds `count` blocks of the site's size; each stands for `weight` blocks. */
void wndl_findings_add(struct wndl_heap_sums *row,
    const struct wndl_alloc_site *site, uint64_t count, double weight);

/* The choice and the order of rows. */
struct wndl_findings_order {
    bool (*wanted)(const struct wndl_finding *row);
    /* the largest comes first */
    uint64_t (*size)(const struct wndl_finding *row);
};

/*
 * Moves the wanted rows to `to` (struct wndl_finding), in order, and sums their
 * blocks. False when memory is out.
 */
bool wndl_findings_table_take(struct wndl_findings_table *table,
    const struct wndl_findings_order *order, struct wndl_vec *to,
    struct wndl_heap_figures *total);

#endif
