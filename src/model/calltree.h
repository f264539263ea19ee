/* SPDX-License-Identifier: MIT */
/*
 * calltree: stacks merged by what their frames are called, inlined frames
 * among them, as plain data in an arena.
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

/* Of siblings no two have the same kind and key. */
struct wndl_calltree_node {
    uint32_t parent; /* smaller than its own index */
    uint32_t key;
    uint8_t kind; /* enum wndl_calltree_kind */
    bool called;  /* in some stacks as a function of its own */
    bool inlined; /* in some stacks inlined into its parent */
    uint32_t first_child, next_sibling; /* 0: none */
    struct wndl_cost self;              /* of what ended here */
    struct wndl_cost total;             /* self and that of all below */
};

/* nodes[0] is the root, of no key: its total is that of everything. */
struct wndl_calltree {
    struct wndl_vec nodes; /* struct wndl_calltree_node */
};

static inline const struct wndl_calltree_node *wndl_calltree_at(
    const struct wndl_calltree *tree, uint32_t index)
{
    return (const struct wndl_calltree_node *)wndl_vec_at(&tree->nodes, index);
}

#endif
