/* SPDX-License-Identifier: MIT */
/* graph_kind: the format of a profile, detected from its contents. */
#ifndef WNDL_ANALYZE_CALLGRAPH_KIND_H
#define WNDL_ANALYZE_CALLGRAPH_KIND_H

#include "base/bytes.h"

enum wndl_graph_kind {
    WNDL_GRAPH_UNKNOWN,
    WNDL_GRAPH_RECORDING,
    WNDL_GRAPH_CALLGRIND,
    WNDL_GRAPH_PPROF,
    WNDL_GRAPH_PPROF_TEXT,
    WNDL_GRAPH_PERF_SCRIPT,
    WNDL_GRAPH_VALGRIND,
    WNDL_GRAPH_FOLDED,
};

/* Detects it by the magic number, or by the first lines. */
enum wndl_graph_kind wndl_graph_kind_of(struct wndl_bytes file);

#endif
