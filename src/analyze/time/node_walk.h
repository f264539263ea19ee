/* SPDX-License-Identifier: MIT */
/*
 * node_walk: visits all stack nodes of a profile, down and up again, so that
 * the visitor can keep counts for the path to a node. It needs no C stack,
 * however deep the recorded recursion is.
 */
#ifndef WNDL_ANALYZE_TIME_NODE_WALK_H
#define WNDL_ANALYZE_TIME_NODE_WALK_H

#include "model/profile.h"

struct wndl_node_walk {
    const struct wndl_profile *profile;
    uint32_t *first_child, *next_sibling; /* by node; 0: none */
};

/*
 * Makes the links in `arena`, with whose memory they end. False when memory is
 * out.
 */
bool wndl_node_walk_init(struct wndl_node_walk *walk,
    const struct wndl_profile *profile, struct wndl_arena *arena);

struct wndl_node_visitor {
    void (*enter)(void *context, uint32_t node);
    void (*leave)(void *context, uint32_t node);
    void *context;
};

/* Visits all nodes except node 0, siblings in the order of their numbers. */
void wndl_node_walk(
    const struct wndl_node_walk *walk, const struct wndl_node_visitor *visitor);

#endif
