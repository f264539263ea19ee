/* SPDX-License-Identifier: MIT */
/* callgraph_cycles: the cycles of functions that call each other. */
#ifndef WNDL_ANALYZE_CALLGRAPH_CYCLES_H
#define WNDL_ANALYZE_CALLGRAPH_CYCLES_H

#include "model/callgraph.h"

/*
 * The strongly connected component of each function, numbered from 1 on,
 * callees before callers; there are `count`.
 */
struct wndl_callgraph_components {
    uint32_t *of;
    uint32_t count;
};

/*
 * Finds them, in `arena`; the depth of the C stack does not depend on the
 * graph. False when memory is out.
 */
bool wndl_callgraph_components(const struct wndl_callgraph *g,
    struct wndl_arena *arena, struct wndl_callgraph_components *components);

/*
 * Fills in g->cycles and g->members, with names: each component of two
 * functions or more, in the order of g->function_order. False when memory is
 * out.
 */
bool wndl_callgraph_find_cycles(struct wndl_callgraph *g,
    struct wndl_arena *arena,
    const struct wndl_callgraph_components *components);

#endif
