/* SPDX-License-Identifier: MIT */
/*
 * stack_hash: a hash that stands for a stack, so that one that was seen before
 * need not be looked for in the tree.
 */
#ifndef WNDL_RT_HEAP_COUNT_STACK_HASH_H
#define WNDL_RT_HEAP_COUNT_STACK_HASH_H

#include "rt/walk/stack_nodes.h"

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
};

/* What stands for the stack. One struct wndl_resume is for one of these, and
 * each of its walks is to be given here, once, before it goes into the tree. */
struct wndl_rt_stack_hash wndl_rt_nodes_hash(
    struct wndl_rt_nodes *nodes, const struct wndl_resumed *stack);

#endif
