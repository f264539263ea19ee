/* SPDX-License-Identifier: MIT */
/* place: a walk of another process, as nodes of a tree. */
#ifndef WNDL_COLLECT_OFFCPU_PLACE_H
#define WNDL_COLLECT_OFFCPU_PLACE_H

#include "collect/offcpu/code.h"
#include "collect/offcpu/spans.h"

/* Whether the walk met, or ended at, code that no module covers. */
bool wndl_offcpu_walk_is_lost(
    const struct wndl_offcpu_code *code, const struct wndl_walk *walk);

/* Checks the frames that were found without rules (collect/code/calls.h). */
void wndl_offcpu_walk_check(struct wndl_binaries *binaries,
    struct wndl_offcpu_code *code, struct wndl_walk *walk);

/*
 * The node of the walk's innermost frame. Images are announced in the
 * recording. 0 without frames, or without memory.
 */
uint32_t wndl_offcpu_walk_node(const struct wndl_offcpu_code *code,
    struct wndl_offcpu_tree *tree, struct wndl_recording *recording,
    const struct wndl_walk *walk);

#endif
