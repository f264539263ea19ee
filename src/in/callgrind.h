/* SPDX-License-Identifier: MIT */
/*
 * callgrind: call graphs in the format of Valgrind's Callgrind, from it or
 * other writers: names and positions compressed or not, instructions or not,
 * several parts, jumps (docs/formats/callgrind.md has the form that we write).
 */
#ifndef WNDL_IN_CALLGRIND_H
#define WNDL_IN_CALLGRIND_H

#include "model/graph_stack.h"

/* Whether a line of text names the costs of a callgrind file. */
bool wndl_callgrind_is(struct wndl_bytes line);

/*
 * Adds its costs to `g`. Lines that cannot be read, or come before lines that
 * they need, are counted in `damage`. NOMEM, LIMIT; MALFORMED if it does not
 * name its costs.
 */
enum wndl_status wndl_callgrind_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
