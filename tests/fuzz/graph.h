/* SPDX-License-Identifier: MIT */
/* graph: any bytes as a profile to be merged, read, finished and written. */
#ifndef WNDL_FUZZ_GRAPH_H
#define WNDL_FUZZ_GRAPH_H

#include "analyze/callgraph/callgraph.h"
#include "model/graph_stack.h"
#include "out/callgrind.h"

#include <stdio.h>
#include <stdlib.h>

/* Costs are conserved, whatever the bytes are. */
static inline void check_sums(const struct wndl_callgraph *g)
{
    for (size_t event = 0; event < g->events.len; event++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < g->places.len; i++)
            sum += wndl_callgraph_costs(&g->self, i)[event];
        if (sum != wndl_callgraph_costs(&g->through, 0)[event])
            abort();
    }
}

static inline void write_graph(const struct wndl_callgraph *g)
{
    static FILE *null;
    static const struct wndl_bytes command = {0};
    if (null == NULL)
        null = fopen("/dev/null", "w");
    if (null != NULL)
        (void)wndl_callgrind_write(null, g, command, wndl_mem_libc());
}

static inline void fuzz_graph(
    enum wndl_status (*read)(struct wndl_callgraph *g, struct wndl_bytes file,
        struct wndl_damage *damage, struct wndl_error *err),
    struct wndl_bytes file)
{
    struct wndl_callgraph g;
    struct wndl_damage damage = {0};
    struct wndl_error err = {0};
    if (!wndl_callgraph_init(&g, wndl_mem_libc()))
        return;
    if (read(&g, file, &damage, &err) == WNDL_OK) {
        check_sums(&g);
        if (wndl_callgraph_finish(&g, file.size % 2 == 0))
            write_graph(&g);
    }
    wndl_callgraph_free(&g);
}

#endif
