/* SPDX-License-Identifier: MIT */
/*
 * dominators: what would be freed with each block.
 *
 * A node dominates a block if every chain from a root to the block contains the
 * node. The nearest one is the block's immediate dominator. A block that
 * several roots hold has none. Blocks that no root leads to hang below the
 * leaders of leaks: blocks whose loss lost the others.
 */
#ifndef WNDL_ANALYZE_HOLDERS_DOMINATORS_H
#define WNDL_ANALYZE_HOLDERS_DOMINATORS_H

#include "model/heap_graph.h"

struct wndl_heap_dominators {
    /* By node: its immediate dominator; WNDL_NO_INDEX: none. */
    uint32_t *of;
    /* All nodes, `order_count` of them: each comes after its dominator. */
    uint32_t *order;
    uint32_t order_count;
    /* By node: bytes of it and of all that it dominates. */
    uint64_t *retained;
    /* Blocks that lead leaks, in no order. */
    uint32_t *leaders;
    uint32_t leader_count;
};

/*
 * Fills in `d`, in memory of `arena`. `size_of` returns the bytes of a block.
 * The time is nearly linear in the graph (semi-NCA: Georgiadis, "Linear-time
 * algorithms for dominators and related problems", 2005, section 2.2); no
 * function recurses. False when memory is out.
 */
bool wndl_heap_dominators_fill(struct wndl_heap_dominators *d,
    const struct wndl_heap_graph *g,
    uint64_t (*size_of)(const void *context, uint32_t block),
    const void *context, struct wndl_arena *arena);

#endif
