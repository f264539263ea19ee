/* SPDX-License-Identifier: MIT */
#include "analyze/holders/reach.h"

#include "model/profile.h"

#include <string.h>

static void enter(struct wndl_heap_reach *reach,
    const struct wndl_heap_graph *g, uint32_t from, uint32_t edge)
{
    const uint32_t to = g->edges[edge].target;
    if (reach->holders[to] != WNDL_NO_INDEX)
        return;
    reach->holders[to] = from;
    reach->edges[to] = edge;
    reach->order[reach->order_count++] = to;
}

static void follow(struct wndl_heap_reach *reach,
    const struct wndl_heap_graph *g, uint32_t node, bool conservative)
{
    for (uint32_t e = g->first_edge[node]; e < g->first_edge[node + 1]; e++) {
        if (g->edges[e].conservative == conservative)
            enter(reach, g, node, e);
    }
}

/* Follows certain pointers from the nodes that were reached from `first` on. */
static void follow_certain(struct wndl_heap_reach *reach,
    const struct wndl_heap_graph *g, uint32_t first)
{
    for (uint32_t i = first; i < reach->order_count; i++)
        follow(reach, g, reach->order[i], false);
}

bool wndl_heap_reach_fill(struct wndl_heap_reach *reach,
    const struct wndl_heap_graph *g, struct wndl_arena *arena)
{
    const size_t count = wndl_heap_graph_nodes(g);
    reach->edges = wndl_arena_calloc(arena, count + 1, sizeof *reach->edges);
    reach->holders =
        wndl_arena_calloc(arena, count + 1, sizeof *reach->holders);
    reach->order = wndl_arena_calloc(arena, count + 1, sizeof *reach->order);
    if (reach->edges == NULL || reach->holders == NULL || reach->order == NULL)
        return false;
    memset(reach->edges, 0xff, count * sizeof *reach->edges);
    memset(reach->holders, 0xff, count * sizeof *reach->holders);
    for (reach->order_count = 0; reach->order_count < g->root_count;
         reach->order_count++)
        reach->order[reach->order_count] = g->block_count + reach->order_count;
    follow_certain(reach, g, 0);
    for (uint32_t i = 0; i < reach->order_count; i++) {
        const uint32_t before = reach->order_count;
        follow(reach, g, reach->order[i], true);
        follow_certain(reach, g, before);
    }
    return true;
}
