/* SPDX-License-Identifier: MIT */
/*
 * folded: one stack on each line, "root;...;leaf N" (docs/formats/folded.md).
 */
#ifndef WNDL_IN_FOLDED_H
#define WNDL_IN_FOLDED_H

#include "model/graph_stack.h"

/* Whether a line of text is a stack. */
bool wndl_folded_is(struct wndl_bytes line);

/*
 * Adds the stacks to `g`, with the event "Samples". Other lines are counted in
 * `damage`. NOMEM, LIMIT.
 */
enum wndl_status wndl_folded_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
