/* SPDX-License-Identifier: MIT */
/*
 * callers: how sure the stacks of a process are. The runtime does not know it
 * of frames that it found without rules. The call before each is checked here
 * by the bytes of the files (code/calls.h), when a stack's node comes out of
 * the shared memory.
 */
#ifndef WNDL_COLLECT_PROCESS_CALLERS_H
#define WNDL_COLLECT_PROCESS_CALLERS_H

#include "collect/process/process.h"

/* A node of the process's stacks, with its place as the file has it. */
struct wndl_placed_node {
    uint64_t key;   /* rec/shm.h */
    uint64_t image; /* index + 1, 0: none */
    uint64_t address;
};

/*
 * Meets node `number`, after the node of its caller, which is number `parent`.
 * `caller` may be anything if that is 0. Whether the caller was found without
 * rules, and its call can have led here.
 */
bool wndl_callers_meet(struct wndl_collector_process *p, uint32_t number,
    uint32_t parent, const struct wndl_placed_node *node,
    const struct wndl_placed_node *caller);

/*
 * The end of the stack of that leaf, if its walk ended so: one that a guess is
 * a part of is not complete (wndl_walk_sure_end()).
 */
uint8_t wndl_callers_end(
    const struct wndl_collector_process *p, uint32_t leaf, uint32_t end);

#endif
