/* SPDX-License-Identifier: MIT */
/* vm_graph: a VM profile as a call graph. */
#ifndef WNDL_ANALYZE_VM_VM_GRAPH_H
#define WNDL_ANALYZE_VM_VM_GRAPH_H

#include "analyze/names/profile_names.h"
#include "model/callgraph.h"
#include "model/vm.h"

/* Events of the graph, in this order. */
enum wndl_vm_event {
    WNDL_VM_IA,  /* instructions fetched */
    WNDL_VM_IF1, /* pages that they touched first */
    WNDL_VM_IFC, /* clean faults */
    WNDL_VM_IFD, /* dirty faults */
    WNDL_VM_DA,  /* the same for data */
    WNDL_VM_DF1,
    WNDL_VM_DFC,
    WNDL_VM_DFD,
    WNDL_VM_EVENTS,
};

/*
 * Fills `g`, which is empty. Accesses are self costs of their lines; faults,
 * those in the memory of index `memory`, are inclusive costs too where call
 * paths were recorded. wndl_callgraph_finish is left to the caller. NOMEM,
 * LIMIT.
 */
enum wndl_status wndl_vm_graph(struct wndl_callgraph *g,
    const struct wndl_vm *vm, uint32_t memory,
    const struct wndl_symbol_sources *sources,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
