/* SPDX-License-Identifier: MIT */
/*
 * heap_nodes: as tree.h, for one who does that all the time: what the tree
 * said of a frame below its callers is kept, found by a hash of them all.
 */
#ifndef WNDL_RT_HEAP_NODES_H
#define WNDL_RT_HEAP_NODES_H

#include "rt/tree.h"

enum { WNDL_RT_KEPT_NODES = 8192 /* a power of two */ };

/*
 * `hashes` has room for all frames of a stack, outermost first: of each, with
 * its callers. Zeroed memory knows nothing but where `hashes` is.
 */
struct wndl_rt_nodes {
    struct wndl_rt_known known;
    uint64_t *hashes;
    struct wndl_rt_kept_node {
        uint64_t key; /* as in the tree */
        uint32_t parent, node;
    } kept[WNDL_RT_KEPT_NODES];
};

/* As wndl_rt_tree_add. One struct wndl_resume is for one of these. */
enum wndl_loss wndl_rt_nodes_add(struct wndl_rt_nodes *nodes,
    const struct wndl_resumed *stack, uint32_t *node);

#endif
