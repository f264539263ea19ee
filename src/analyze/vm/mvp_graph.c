/* SPDX-License-Identifier: MIT */
#include "analyze/vm/mvp_graph.h"

#include "analyze/vm/vm_places.h"

#include <stdlib.h>

static const struct wndl_callgraph_event_text events[WNDL_MVP_EVENTS] = {
    [WNDL_MVP_WASTED] = {"Wasted", "constant bits of sectors"},
    [WNDL_MVP_SECTORS] = {"Sectors", "sectors that loads read"},
    [WNDL_MVP_LOADS] = {"Loads", "loads"},
    [WNDL_MVP_WIDE] = {"Wide", "loads of vectors"},
};

/* ---- places */

static bool find_places(struct wndl_vm_places *places, struct wndl_callgraph *g,
    const struct wndl_mvp *mvp, const struct wndl_symbol_sources *sources)
{
    wndl_vm_places_init(places, g);
    for (size_t i = 0; i < mvp->sites.len; i++) {
        const struct wndl_mvp_site *site = wndl_vec_at(&mvp->sites, i);
        if (!wndl_vm_places_add(places, site->ip))
            return false;
    }
    for (size_t i = 0; i < mvp->heaps.len; i++) {
        const struct wndl_mvp_heap *heap = wndl_vec_at(&mvp->heaps, i);
        for (uint32_t j = 0; j < heap->ip_count; j++)
            if (!wndl_vm_places_add(places, heap->ips[j]))
                return false;
    }
    return wndl_vm_places_name(places, g, &mvp->code, sources) == WNDL_OK;
}

/* ---- sites */

static enum wndl_status add_costs(
    struct wndl_callgraph *g, const struct wndl_mvp_row *row)
{
    const struct wndl_mvp_site *site = row->site;
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    if (site->is_wide) {
        costs[WNDL_MVP_WIDE] = site->loads;
    } else {
        costs[WNDL_MVP_WASTED] = wndl_mvp_wasted(site);
        costs[WNDL_MVP_SECTORS] = site->sectors;
        costs[WNDL_MVP_LOADS] = site->loads;
    }
    return wndl_callgraph_add_self(g, row->place, costs);
}

static enum wndl_status add_to_totals(
    struct wndl_mvp_totals *totals, const struct wndl_mvp_site *site)
{
    uint64_t *loads = site->is_wide ? &totals->wide_loads : &totals->loads;
    *(site->is_wide ? &totals->wide_sites : &totals->sites) += 1;
    return __builtin_add_overflow(*loads, site->loads, loads) ? WNDL_LIMIT
                                                              : WNDL_OK;
}

static enum wndl_status add_rows(struct wndl_mvp_graph *graph,
    const struct wndl_vm_places *places, const struct wndl_mvp *mvp)
{
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < mvp->sites.len && status == WNDL_OK; i++) {
        struct wndl_mvp_row *row = wndl_vec_push(&graph->rows);
        if (row == NULL)
            return WNDL_NOMEM;
        row->site = wndl_vec_at(&mvp->sites, i);
        row->place = wndl_vm_place_innermost(places, row->site->ip);
        status = add_to_totals(&graph->totals, row->site);
        if (status == WNDL_OK)
            status = add_costs(graph->graph, row);
    }
    return status;
}

static int compare_numbers(uint64_t x, uint64_t y)
{
    return x > y ? -1 : x < y;
}

/* Most wasted first, then the wide ones; equal ones by address. */
static int compare_rows(const void *a, const void *b)
{
    const struct wndl_mvp_site *x = ((const struct wndl_mvp_row *)a)->site;
    const struct wndl_mvp_site *y = ((const struct wndl_mvp_row *)b)->site;
    if (x->is_wide != y->is_wide)
        return x->is_wide ? 1 : -1;
    int order = compare_numbers(wndl_mvp_wasted(x), wndl_mvp_wasted(y));
    if (order == 0)
        order = compare_numbers(x->sectors, y->sectors);
    if (order == 0)
        order = compare_numbers(y->ip, x->ip);
    return order != 0 ? order : compare_numbers(y->index, x->index);
}

static enum wndl_status find_data(struct wndl_mvp_graph *graph,
    const struct wndl_mvp_data_of *of,
    const struct wndl_symbol_sources *sources)
{
    struct wndl_callgraph *g = graph->graph;
    struct wndl_mvp_types types;
    if (!wndl_mvp_types_init(&types, &g->arena, sources, &of->mvp->code))
        return WNDL_NOMEM;
    types.given = graph->given;
    types.given_count = graph->given_count;
    enum wndl_status status = wndl_mvp_data_find(&graph->found, of, &types, g);
    wndl_mvp_types_close(&types);
    return status;
}

enum wndl_status wndl_mvp_graph(struct wndl_mvp_graph *graph,
    const struct wndl_mvp *mvp, const struct wndl_symbol_sources *sources)
{
    struct wndl_callgraph *g = graph->graph;
    struct wndl_vm_places places;
    enum wndl_status status = wndl_callgraph_events(g, events, WNDL_MVP_EVENTS);
    if (status != WNDL_OK)
        return status;
    if (!find_places(&places, g, mvp, sources))
        return WNDL_NOMEM;
    wndl_vec_init(&graph->rows, &g->arena, sizeof(struct wndl_mvp_row));
    status = add_rows(graph, &places, mvp);
    if (status == WNDL_OK && graph->rows.len != 0)
        qsort(graph->rows.data, graph->rows.len, graph->rows.element,
            compare_rows);
    if (status == WNDL_OK)
        status =
            find_data(graph, &(struct wndl_mvp_data_of){mvp, &places}, sources);
    return status;
}
