/* SPDX-License-Identifier: MIT */
/*
 * calltree: stacks merged by the names of their frames, inlined frames
 * included, as plain data in an arena.
 */
#ifndef WNDL_MODEL_CALLTREE_H
#define WNDL_MODEL_CALLTREE_H

#include "base/vec.h"
#include "model/costs.h"

#include <stdbool.h>
#include <stdint.h>

enum wndl_calltree_kind {
    WNDL_TREE_LABEL, /* key is a string's id: "[truncated]", a thread */
    WNDL_TREE_FRAME, /* key is a function, or the id of its name */
};

/* No two siblings have the same kind and key. */
struct wndl_calltree_node {
    uint32_t parent; /* smaller than its own index */
    uint32_t key;
    uint8_t kind; /* enum wndl_calltree_kind */
    bool called;  /* some stacks have it as a function of its own */
    bool inlined; /* some stacks have it inlined into its parent */
    /* enum wndl_certainty: of the least sure of the frames that are one */
    uint8_t certainty;
    uint32_t first_child, next_sibling; /* 0: none */
    struct wndl_cost self;              /* of stacks that ended here */
    struct wndl_cost total; /* self and the totals of all children */
};

/* nodes[0] is the root. It has no key; its total is that of everything. */
struct wndl_calltree {
    struct wndl_vec nodes; /* struct wndl_calltree_node */
};

/* The node at `index`, which is below the count. */
static inline const struct wndl_calltree_node *wndl_calltree_at(
    const struct wndl_calltree *tree, uint32_t index)
{
    return (const struct wndl_calltree_node *)wndl_vec_at(&tree->nodes, index);
}

#endif
