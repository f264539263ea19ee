/* SPDX-License-Identifier: MIT */
/*
 * graph: reads the scan of a heap (docs/formats/wndl.md, HSCN) into a graph of
 * its blocks and roots.
 */
#ifndef WNDL_ANALYZE_HOLDERS_GRAPH_H
#define WNDL_ANALYZE_HOLDERS_GRAPH_H

#include "base/status.h"
#include "model/heap.h"
#include "model/heap_graph.h"

/*
 * Gives names to roots: fills in the variable that covers `svma` of the module
 * `path`, as [svma, svma + size) and a name that lives as long as the graph's
 * user needs it. False: it is not known.
 */
struct wndl_heap_variables {
    bool (*find)(void *context, struct wndl_bytes path, uint64_t svma,
        struct wndl_heap_root *variable);
    void *context;
};

/*
 * Fills in `g` from heap->scan, which must outlive it. `variables` may be NULL.
 * Ends with wndl_heap_graph_free, even after a failure. NOT_FOUND: the heap was
 * not scanned; MALFORMED, with the offset in the scan; NOMEM.
 */
enum wndl_status wndl_heap_graph_read(struct wndl_heap_graph *g,
    const struct wndl_process_heap *heap,
    const struct wndl_heap_variables *variables, struct wndl_mem *mem,
    struct wndl_error *err);
void wndl_heap_graph_free(struct wndl_heap_graph *g);

#endif
