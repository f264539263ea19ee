/* SPDX-License-Identifier: MIT */
/* vm_graph: a VM profile as a call graph. */
#ifndef WNDL_ANALYZE_VM_VM_GRAPH_H
#define WNDL_ANALYZE_VM_VM_GRAPH_H

#include "analyze/vm/vm_places.h"
#include "model/vm_view.h"

/* The graph to fill. */
struct wndl_vm_graph {
    struct wndl_callgraph *graph;  /* empty at first */
    struct wndl_vm_places *places; /* they live as long as the graph */
    struct wndl_vm_paths *paths;   /* 0 at first */
};

/*
 * Fills `graph`. Accesses
 * are self costs of their lines. Faults, those in the memory of index `memory`,
 * are inclusive costs too where call paths were recorded. The caller calls
 * wndl_callgraph_finish. NOMEM, LIMIT.
 */
enum wndl_status wndl_vm_graph(struct wndl_vm_graph *graph,
    const struct wndl_vm *vm, uint32_t memory,
    const struct wndl_symbol_sources *sources) WNDL_MUST_USE;

#endif
