/* SPDX-License-Identifier: MIT */
/*
 * stack_hash: a hash of a stack, so that a stack that was seen before need not
 * be looked up in the tree.
 */
#ifndef WNDL_RT_HEAP_COUNT_STACK_HASH_H
#define WNDL_RT_HEAP_COUNT_STACK_HASH_H

#include "rt/walk/stack_nodes.h"

/*
 * The hash of all bits of all frames. Two stacks that differ in one frame never
 * have the same hash.
 */
struct wndl_rt_stack_hash {
    uint64_t a, b;
};

/*
 * `hashes` has room for one more than the frames of a stack. Each entry is the
 * hash of all frames from the outermost up to it. Apart from that pointer,
 * zeroed memory is a valid start.
 */
struct wndl_rt_nodes {
    struct wndl_rt_known known;
    struct wndl_rt_stack_hash *hashes;
};

/*
 * The hash of the stack. A struct wndl_resume belongs to one struct
 * wndl_rt_nodes. Each of its walks must be hashed here once, before it goes
 * into the tree.
 */
struct wndl_rt_stack_hash wndl_rt_nodes_hash(
    struct wndl_rt_nodes *nodes, const struct wndl_resumed *stack);

#endif
