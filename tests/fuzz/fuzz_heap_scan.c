/* SPDX-License-Identifier: MIT */
/*
 * fuzz_heap_scan: any bytes as the scan of a heap. What is read is a graph
 * within bounds; each block that a root leads to has a chain to one, and what
 * the nodes without a dominator retain are all blocks.
 */
#include "analyze/holders/dominators.h"
#include "analyze/holders/graph.h"
#include "analyze/holders/reach.h"
#include "model/profile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t one(const void *context, uint32_t block)
{
    (void)context;
    (void)block;
    return 1;
}

static void check_dominators(
    const struct wndl_heap_graph *g, struct wndl_arena *arena)
{
    struct wndl_heap_dominators d;
    uint64_t sum = 0;
    if (!wndl_heap_dominators_fill(&d, g, one, NULL, arena))
        return;
    if (d.order_count != wndl_heap_graph_nodes(g))
        abort();
    for (uint32_t i = 0; i < d.order_count; i++)
        sum += d.of[i] == WNDL_NO_INDEX ? d.retained[i] : 0;
    if (sum != g->block_count)
        abort();
}

static void check_chains(
    const struct wndl_heap_graph *g, struct wndl_arena *arena)
{
    struct wndl_heap_reach reach;
    if (!wndl_heap_reach_fill(&reach, g, arena))
        return;
    for (uint32_t i = 0; i < reach.order_count; i++) {
        const uint32_t node = reach.order[i];
        if (node < g->block_count && g->edges[reach.edges[node]].target != node)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t sites[] = {0, 1, 2, WNDL_NO_INDEX}, nodes[] = {0, 1};
    struct wndl_heap_graph g;
    struct wndl_error err = {0};
    const struct wndl_process_heap heap = {
        .scan = {.data = (void *)(uintptr_t)data, .len = size, .element = 1},
        .scan_sites = {.data = sites, .len = 4, .element = sizeof sites[0]},
        .scan_nodes = {.data = nodes, .len = 2, .element = sizeof nodes[0]},
    };
    if (wndl_heap_graph_read(&g, &heap, NULL, wndl_mem_libc(), &err) ==
        WNDL_OK) {
        struct wndl_arena arena;
        wndl_arena_init(&arena, wndl_mem_libc());
        check_dominators(&g, &arena);
        check_chains(&g, &arena);
        wndl_arena_free(&arena);
    }
    wndl_heap_graph_free(&g);
    return 0;
}
