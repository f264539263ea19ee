/* SPDX-License-Identifier: MIT */
/*
 * heap_nodes: as tree.h, for one who does that all the time. What the tree
 * said of a frame below its callers is kept, found by a hash of them all; and
 * that hash stands for the stack where it was seen before.
 */
#ifndef WNDL_RT_HEAP_NODES_H
#define WNDL_RT_HEAP_NODES_H

#include "rt/tree.h"

enum { WNDL_RT_KEPT_NODES = 8192 /* a power of two */ };

/* Of all bits of all frames. Those of two stacks that differ in one frame are
 * never the same. */
struct wndl_rt_stack_hash {
    uint64_t a, b;
};

/*
 * `hashes` has room for one more than there are frames in a stack, outermost
 * first: of those above each. Zeroed memory knows nothing but where that is.
 */
struct wndl_rt_nodes {
    struct wndl_rt_known known;
    struct wndl_rt_stack_hash *hashes;
    struct wndl_rt_kept_node {
        uint64_t key; /* as in the tree */
        uint32_t parent, node;
    } kept[WNDL_RT_KEPT_NODES];
};

/* What stands for the stack. One struct wndl_resume is for one of these, and
 * each of its walks is to be told here, once. */
struct wndl_rt_stack_hash wndl_rt_nodes_hash(
    struct wndl_rt_nodes *nodes, const struct wndl_resumed *stack);

/* As wndl_rt_tree_add, after the above. */
enum wndl_loss wndl_rt_nodes_add(struct wndl_rt_nodes *nodes,
    const struct wndl_resumed *stack, uint32_t *node);

#endif
