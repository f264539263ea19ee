/* SPDX-License-Identifier: MIT */
/* graph_kind: which kind of profile a file is, by what is in it. */
#ifndef WNDL_ANALYZE_CALLGRAPH_KIND_H
#define WNDL_ANALYZE_CALLGRAPH_KIND_H

#include "base/bytes.h"

enum wndl_graph_kind {
    WNDL_GRAPH_UNKNOWN,
    WNDL_GRAPH_RECORDING,
    WNDL_GRAPH_CALLGRIND,
    WNDL_GRAPH_PPROF,
    WNDL_GRAPH_PERF_SCRIPT,
    WNDL_GRAPH_VALGRIND,
    WNDL_GRAPH_FOLDED,
};

/* By its magic, or by its first lines. */
enum wndl_graph_kind wndl_graph_kind_of(struct wndl_bytes file);

#endif
