/* SPDX-License-Identifier: MIT */
/* mvp_graph: a memory value profile with the places of its code. */
#ifndef WNDL_ANALYZE_VM_MVP_GRAPH_H
#define WNDL_ANALYZE_VM_MVP_GRAPH_H

#include "analyze/names/profile_names.h"
#include "analyze/vm/mvp_data.h"
#include "model/mvp_view.h"

/* A profile with its places; all lives as long as `graph`. */
struct wndl_mvp_graph {
    struct wndl_callgraph *graph;      /* empty at first */
    struct wndl_vec rows;              /* as in struct wndl_mvp_view */
    struct wndl_mvp_totals totals;     /* 0 at first */
    struct wndl_mvp_found found;       /* empty at first */
    struct wndl_mvp_given_type *given; /* types of blocks; may be NULL */
    size_t given_count;
};

/*
 * Fills `graph`: costs are self costs of the lines that load. The caller calls
 * wndl_callgraph_finish. NOMEM, LIMIT.
 */
enum wndl_status wndl_mvp_graph(struct wndl_mvp_graph *graph,
    const struct wndl_mvp *mvp,
    const struct wndl_symbol_sources *sources) WNDL_MUST_USE;

#endif
