/* SPDX-License-Identifier: MIT */
#include "analyze/holders/views.h"

#include "analyze/holders/members.h"
#include "base/map.h"
#include "base/search.h"
#include "model/profile.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WORD = 8 };

struct view {
    struct wndl_heap_holders *h;
    const struct wndl_heap_known *known;
};

static uint32_t place_of(const struct view *v, uint32_t node)
{
    return wndl_heap_place_of(&v->known->places, &v->h->graph, node);
}

/* ---- one block */

/* The other end of a pointer is `node`; `source` is where the pointer is. */
static bool add_pointer(const struct view *v, struct wndl_vec *to,
    uint32_t node, uint32_t source, const struct wndl_heap_edge *e)
{
    const struct wndl_heap_graph *g = &v->h->graph;
    const bool is_root = node >= g->block_count;
    struct wndl_heap_pointer *p = wndl_vec_push(to);
    if (p == NULL)
        return false;
    *p = (struct wndl_heap_pointer){
        .place = place_of(v, node),
        .address = is_root ? g->roots[node - g->block_count].address
                           : g->addresses[node],
        .offset = (uint64_t)e->offset * WORD,
        .is_root = is_root,
        .conservative = e->conservative,
    };
    return wndl_heap_member(
        v->h, v->known, wndl_heap_site_of(g, source), p->offset, &p->member);
}

static bool add_from(
    const struct view *v, struct wndl_heap_block_view *view, uint32_t block)
{
    const struct wndl_heap_graph *g = &v->h->graph;
    for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
        for (uint32_t e = g->first_edge[n]; e < g->first_edge[n + 1]; e++) {
            if (g->edges[e].target == block &&
                !add_pointer(v, &view->from, n, n, &g->edges[e]))
                return false;
        }
    }
    return true;
}

static bool add_to(
    const struct view *v, struct wndl_heap_block_view *view, uint32_t block)
{
    const struct wndl_heap_graph *g = &v->h->graph;
    for (uint32_t e = g->first_edge[block]; e < g->first_edge[block + 1]; e++) {
        if (!add_pointer(v, &view->to, g->edges[e].target, block, &g->edges[e]))
            return false;
    }
    return true;
}

static bool add_chain(
    const struct view *v, struct wndl_vec *chain, uint32_t block)
{
    const struct wndl_heap_reach *reach = &v->known->reach;
    wndl_vec_init(chain, &v->h->arena, sizeof(struct wndl_heap_pointer));
    for (uint32_t n = block; reach->holders[n] != WNDL_NO_INDEX;
         n = reach->holders[n]) {
        if (!add_pointer(v, chain, reach->holders[n], reach->holders[n],
                &v->h->graph.edges[reach->edges[n]]))
            return false;
    }
    return true;
}

static enum wndl_status no_block(struct wndl_error *err, uint64_t address)
{
    return wndl_fail(err, WNDL_NOT_FOUND,
        "no block of the scanned heap is at 0x%" PRIx64, address);
}

enum wndl_status wndl_holder_view_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, uint64_t address,
    struct wndl_error *err)
{
    const struct wndl_heap_graph *g = &h->graph;
    const struct view v = {h, known};
    const size_t after = wndl_search_up_to(
        g->addresses, sizeof *g->addresses, g->block_count, address);
    if (after == 0)
        return no_block(err, address);
    const uint32_t block = (uint32_t)(after - 1);
    const uint64_t size = wndl_heap_block_size(g, known->heap, block);
    if (address - g->addresses[block] >= size)
        return no_block(err, address);
    struct wndl_heap_block_view *view = wndl_vec_push(&h->seen);
    if (view == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    *view = (struct wndl_heap_block_view){
        .address = g->addresses[block],
        .size = size,
        .retained = known->dominators.retained[block],
        .place = place_of(&v, block),
        .is_lost = known->reach.holders[block] == WNDL_NO_INDEX,
    };
    wndl_vec_init(&view->from, &h->arena, sizeof(struct wndl_heap_pointer));
    wndl_vec_init(&view->to, &h->arena, sizeof(struct wndl_heap_pointer));
    return add_from(&v, view, block) && add_to(&v, view, block) &&
                   add_chain(&v, &view->chain, block)
               ? WNDL_OK
               : wndl_fail(err, WNDL_NOMEM, "out of memory");
}

/* ---- the blocks of a site */

/* Pointers that are summed up by the place of their other end. */
struct merging {
    const struct view *view;
    struct wndl_vec *rows; /* struct wndl_heap_merged */
    struct wndl_map known; /* by place and kind: index of the row, + 1 */
};

/* Adds a pointer in a block of `site`. */
static bool merge(struct merging *m, uint32_t place, bool is_root,
    uint32_t site, const struct wndl_heap_edge *e)
{
    const uint64_t offset = (uint64_t)e->offset * WORD;
    uint64_t *known = wndl_map_put(&m->known, (uint64_t)place << 1 | is_root);
    if (known == NULL)
        return false;
    if (*known == 0) {
        struct wndl_heap_merged *added = wndl_vec_push(m->rows);
        if (added == NULL)
            return false;
        *added = (struct wndl_heap_merged){
            .place = place, .is_root = is_root, .site = site, .offset = offset};
        *known = m->rows->len;
    }
    struct wndl_heap_merged *row = wndl_vec_at(m->rows, *known - 1);
    row->pointers++;
    row->conservative += e->conservative;
    row->offsets_differ |= row->offset != offset;
    row->site = wndl_heap_same_site(m->view->known->heap, row->site, site);
    return true;
}

static bool merge_pointers(const struct view *v, uint32_t place,
    struct merging *from, struct merging *to)
{
    const struct wndl_heap_graph *g = &v->h->graph;
    for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
        const bool is_root = n >= g->block_count;
        const uint32_t source = place_of(v, n), site = wndl_heap_site_of(g, n);
        for (uint32_t e = g->first_edge[n]; e < g->first_edge[n + 1]; e++) {
            const uint32_t target = place_of(v, g->edges[e].target);
            if ((target == place &&
                    !merge(from, source, is_root, site, &g->edges[e])) ||
                (source == place && !is_root &&
                    !merge(to, target, false, site, &g->edges[e])))
                return false;
        }
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct wndl_heap_merged *x = a, *y = b;
    if (x->pointers != y->pointers)
        return x->pointers < y->pointers ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void sort_rows(struct wndl_vec *rows)
{
    if (rows->len != 0)
        qsort(rows->data, rows->len, rows->element, compare_rows);
}

static bool name_members(const struct view *v, struct wndl_vec *rows)
{
    bool is_named = true;
    for (size_t i = 0; i < rows->len && is_named; i++) {
        struct wndl_heap_merged *row = wndl_vec_at(rows, i);
        if (!row->offsets_differ)
            is_named = wndl_heap_member(
                v->h, v->known, row->site, row->offset, &row->member);
    }
    return is_named;
}

static bool add_merged(const struct view *v, struct wndl_heap_site_view *view)
{
    struct wndl_arena scratch;
    struct merging from = {.view = v, .rows = &view->from};
    struct merging to = {.view = v, .rows = &view->to};
    wndl_arena_init(&scratch, v->h->arena.mem);
    wndl_vec_init(from.rows, &v->h->arena, sizeof(struct wndl_heap_merged));
    wndl_vec_init(to.rows, &v->h->arena, sizeof(struct wndl_heap_merged));
    wndl_map_init(&from.known, &scratch);
    wndl_map_init(&to.known, &scratch);
    const bool is_merged = merge_pointers(v, view->row.place, &from, &to);
    wndl_arena_free(&scratch);
    sort_rows(from.rows);
    sort_rows(to.rows);
    return is_merged && name_members(v, from.rows) && name_members(v, to.rows);
}

/*
 * Chains were found the shortest first, so that the first block of the place
 * has the shortest. Returns WNDL_NO_INDEX if all its blocks are lost.
 */
static uint32_t find_nearest(const struct view *v, uint32_t place)
{
    const struct wndl_heap_reach *reach = &v->known->reach;
    for (uint32_t i = 0; i < reach->order_count; i++) {
        const uint32_t node = reach->order[i];
        if (node < v->h->graph.block_count && place_of(v, node) == place)
            return node;
    }
    return WNDL_NO_INDEX;
}

static void count_lost(const struct view *v, struct wndl_heap_site_view *view)
{
    for (uint32_t i = 0; i < v->h->graph.block_count; i++)
        view->lost += place_of(v, i) == view->row.place &&
                      v->known->reach.holders[i] == WNDL_NO_INDEX;
}

enum wndl_status wndl_holder_site_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, uint64_t number,
    struct wndl_error *err)
{
    const struct view v = {h, known};
    if (number == 0 || number > h->by_place.len)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "the scanned heap has %zu sites, as --retained numbers them; there "
            "is no site %" PRIu64,
            h->by_place.len, number);
    struct wndl_heap_site_view *view = wndl_vec_push(&h->seen_sites);
    if (view == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    *view = (struct wndl_heap_site_view){
        .number = number,
        .row = *(const struct wndl_heap_retained *)wndl_vec_at(
            &h->by_place, number - 1),
    };
    const uint32_t nearest = find_nearest(&v, view->row.place);
    count_lost(&v, view);
    wndl_vec_init(&view->chain, &h->arena, sizeof(struct wndl_heap_pointer));
    return add_merged(&v, view) && (nearest == WNDL_NO_INDEX ||
                                       add_chain(&v, &view->chain, nearest))
               ? WNDL_OK
               : wndl_fail(err, WNDL_NOMEM, "out of memory");
}
