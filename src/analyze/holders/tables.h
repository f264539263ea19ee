/* SPDX-License-Identifier: MIT */
/* tables: the tables of what each place and each root retains. */
#ifndef WNDL_ANALYZE_HOLDERS_TABLES_H
#define WNDL_ANALYZE_HOLDERS_TABLES_H

#include "analyze/holders/dominators.h"
#include "analyze/holders/places.h"
#include "analyze/holders/reach.h"

struct wndl_heap_members;

/* All parts of holders share it. The graph is h->graph. */
struct wndl_heap_known {
    const struct wndl_process_heap *heap;
    struct wndl_heap_members *members; /* or NULL */
    struct wndl_heap_places places;
    struct wndl_heap_reach reach;
    struct wndl_heap_dominators dominators;
};

/* Bytes that can be used of a block; of an unknown site: a word. */
uint64_t wndl_heap_block_size(const struct wndl_heap_graph *g,
    const struct wndl_process_heap *heap, uint32_t block);

/*
 * Fills in by_place, by_root, leaks and the sums of `h`. Blocks of a place that
 * dominate others of it count once. False when memory is out.
 */
bool wndl_heap_tables_fill(
    struct wndl_heap_holders *h, const struct wndl_heap_known *known);

#endif
