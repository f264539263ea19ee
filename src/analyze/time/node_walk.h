/* SPDX-License-Identifier: MIT */
/*
 * node_walk: down and up again over all stack nodes of a profile, so that
 * what is on the path to a node can be kept count of. Takes no stack: deep
 * recursion of what was recorded is none of ours.
 */
#ifndef WNDL_ANALYZE_TIME_NODE_WALK_H
#define WNDL_ANALYZE_TIME_NODE_WALK_H

#include "model/profile.h"

struct wndl_node_walk {
    const struct wndl_profile *profile;
    uint32_t *first_child, *next_sibling; /* by node; 0: none */
};

/* Links made in `arena`, with which they end. False when memory is out. */
bool wndl_node_walk_init(struct wndl_node_walk *walk,
    const struct wndl_profile *profile, struct wndl_arena *arena);

struct wndl_node_visitor {
    void (*enter)(void *context, uint32_t node);
    void (*leave)(void *context, uint32_t node);
    void *context;
};

/* All nodes but the root above all roots, siblings in the order of numbers. */
void wndl_node_walk(
    const struct wndl_node_walk *walk, const struct wndl_node_visitor *visitor);

#endif
