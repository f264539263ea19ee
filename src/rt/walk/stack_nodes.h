/* SPDX-License-Identifier: MIT */
/* stack_nodes: turns stacks into nodes of the process's stack tree. */
#ifndef WNDL_RT_WALK_STACK_NODES_H
#define WNDL_RT_WALK_STACK_NODES_H

#include "rec/shm.h"

#include <windlass/unwind.h>

enum { WNDL_RT_PAGES = 256 /* a power of two */ };

/*
 * A thread's knowledge: code pages whose module is listed, and the age of rules
 * for which this holds. A page is its number, with the owner as in a key.
 * Zeroed memory knows nothing. It serves one user at a time: a signal handler
 * that may interrupt one needs its own.
 */
struct wndl_rt_known {
    uint32_t age; /* value of wndl_rt.rules_age */
    uint64_t pages[WNDL_RT_PAGES];
};

/* The key of a frame. `owner` is shifted to its place already. */
static inline uint64_t wndl_rt_tree_key(
    const struct wndl_frame *frame, uint64_t owner)
{
    return (uint64_t)frame->address |
           (uint64_t)frame->interrupted << WNDL_KEY_INTERRUPTED_SHIFT |
           (uint64_t)frame->how << WNDL_KEY_HOW_SHIFT | owner;
}

/*
 * Adds the stack, and sets *node to its leaf's node. Frames that are unchanged
 * since the last walk carry their nodes, except those for which there was no
 * room. Returns 0, or why the stack cannot be kept. Signal-safe.
 */
enum wndl_loss wndl_rt_tree_add(struct wndl_rt_known *known,
    const struct wndl_resumed *stack, uint32_t *node);

#endif
