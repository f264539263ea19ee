/* SPDX-License-Identifier: MIT */
/*
 * reach: the shortest chain from a root to each block. A chain of pointers to
 * the starts of blocks is preferred to a shorter one with conservative
 * pointers.
 */
#ifndef WNDL_ANALYZE_HOLDERS_REACH_H
#define WNDL_ANALYZE_HOLDERS_REACH_H

#include "model/heap_graph.h"

struct wndl_heap_reach {
    /* By node: the edge by which it was reached; WNDL_NO_INDEX: it is a root,
     * or nothing leads to it. */
    uint32_t *edges;
    /* By node: the node before it; WNDL_NO_INDEX for the same nodes. */
    uint32_t *holders;
    /* All nodes that are roots or were reached, each after its holder. */
    uint32_t *order;
    uint32_t order_count;
};

/*
 * Fills in `reach`, in memory of `arena`. The time is linear in the graph.
 * False when memory is out.
 */
bool wndl_heap_reach_fill(struct wndl_heap_reach *reach,
    const struct wndl_heap_graph *g, struct wndl_arena *arena);

#endif
