/* SPDX-License-Identifier: MIT */
/*
 * stack_nodes: stacks become nodes of the process's stack tree.
 */
#ifndef WNDL_RT_WALK_STACK_NODES_H
#define WNDL_RT_WALK_STACK_NODES_H

#include "rec/shm.h"

#include <windlass/unwind.h>

enum { WNDL_RT_PAGES = 256 /* a power of two */ };

/*
 * What a thread knows: code pages whose module is listed, and the epoch of
 * unloading that this is of. A page is its number, and as in a key the epoch.
 * Zeroed memory knows nothing. For one user at a time: a signal handler that
 * may interrupt one needs another.
 */
struct wndl_rt_known {
    uint32_t epoch; /* of wndl_rt.epoch */
    uint64_t pages[WNDL_RT_PAGES];
};

/* `epoch` is in its place. */
static inline uint64_t wndl_rt_tree_key(
    const struct wndl_frame *frame, uint64_t epoch)
{
    return (uint64_t)frame->address |
           (uint64_t)frame->interrupted << WNDL_KEY_INTERRUPTED_SHIFT |
           (uint64_t)frame->how << WNDL_KEY_HOW_SHIFT | epoch;
}

/*
 * The leaf's node. What is as at the last walk carries its nodes, but for
 * those that there was no room for. Returns 0, or why the stack cannot be
 * kept. Signal-safe.
 */
enum wndl_loss wndl_rt_tree_add(struct wndl_rt_known *known,
    const struct wndl_resumed *stack, uint32_t *node);

#endif
