/* SPDX-License-Identifier: MIT */
/* callgraph_cycles: which functions of a call graph call each other. */
#ifndef WNDL_ANALYZE_CALLGRAPH_CYCLES_H
#define WNDL_ANALYZE_CALLGRAPH_CYCLES_H

#include "model/callgraph.h"

/*
 * Strongly connected components by function, numbered from 1 on, callees
 * before callers; `count` of them.
 */
struct wndl_callgraph_components {
    uint32_t *of;
    uint32_t count;
};

/* In the memory of `arena`; however deep the graph is, the C stack is not.
 * False when memory is out. */
bool wndl_callgraph_components(const struct wndl_callgraph *g,
    struct wndl_arena *arena, struct wndl_callgraph_components *components);

/*
 * Fills in g->cycles and g->members, and names them: each component of two
 * functions or more, in the order of g->function_order. False: memory is out.
 */
bool wndl_callgraph_find_cycles(struct wndl_callgraph *g,
    struct wndl_arena *arena,
    const struct wndl_callgraph_components *components);

#endif
