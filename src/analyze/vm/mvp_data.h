/* SPDX-License-Identifier: MIT */
/* mvp_data: data of a memory value profile, by the line that allocates it. */
#ifndef WNDL_ANALYZE_VM_MVP_DATA_H
#define WNDL_ANALYZE_VM_MVP_DATA_H

#include "analyze/vm/mvp_types.h"
#include "analyze/vm/vm_places.h"
#include "model/mvp_view.h"

/* Results; all of them live as long as the graph. */
struct wndl_mvp_found {
    struct wndl_vec data;  /* as in struct wndl_mvp_heap_view */
    struct wndl_vec twins; /* the same */
    struct wndl_mvp_heap_view view;
};

/* A profile, and the places of every address of its heaps. */
struct wndl_mvp_data_of {
    const struct wndl_mvp *mvp;
    const struct wndl_vm_places *places; /* of the graph */
};

/*
 * Fills *found, which is empty, with memory of `g`; `types` says what blocks
 * are. NOMEM.
 */
enum wndl_status wndl_mvp_data_find(struct wndl_mvp_found *found,
    const struct wndl_mvp_data_of *of, struct wndl_mvp_types *types,
    struct wndl_callgraph *g) WNDL_MUST_USE;

#endif
