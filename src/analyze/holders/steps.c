/* SPDX-License-Identifier: MIT */
#include "analyze/holders/steps.h"

#include "base/map.h"
#include "base/search.h"
#include "model/profile.h"

#include <inttypes.h>
#include <string.h>

enum { WORD = 8 };

struct walk {
    struct wndl_heap_holders *h;
    const struct wndl_heap_known *known;
    struct wndl_arena scratch;
    struct wndl_map steps; /* by step below, place and kind */
    /* By node: the last node of its chain up to which all are of its place. */
    uint32_t *last;
};

static struct wndl_holder_step *step_at(const struct walk *w, uint32_t step)
{
    return wndl_vec_at(&w->h->steps, step);
}

static uint32_t place_of(const struct walk *w, uint32_t node)
{
    return wndl_heap_place_of(&w->known->places, &w->h->graph, node);
}

/* ---- chains */

/* A list of any length is one step, and takes no longer than one. */
static bool join_places(struct walk *w)
{
    const struct wndl_heap_reach *reach = &w->known->reach;
    const uint32_t nodes = wndl_heap_graph_nodes(&w->h->graph);
    w->last =
        wndl_arena_calloc(&w->scratch, (size_t)nodes + 1, sizeof *w->last);
    for (uint32_t i = 0; w->last != NULL && i < nodes; i++)
        w->last[i] = i;
    for (uint32_t i = 0; w->last != NULL && i < reach->order_count; i++) {
        const uint32_t node = reach->order[i], holder = reach->holders[node];
        if (holder < w->h->graph.block_count &&
            place_of(w, holder) == place_of(w, node))
            w->last[node] = w->last[holder];
    }
    return w->last != NULL;
}

/* The step after `parent` for a place; 0: memory is out. */
static uint32_t step_of(
    struct walk *w, uint32_t parent, uint32_t place, bool is_root)
{
    uint64_t *known = wndl_map_put(
        &w->steps, (uint64_t)parent << 33 | (uint64_t)place << 1 | is_root);
    if (known == NULL || *known != 0)
        return known == NULL ? 0 : (uint32_t)*known;
    struct wndl_holder_step *added = wndl_vec_push(&w->h->steps);
    if (added == NULL)
        return 0;
    const uint32_t step = (uint32_t)(w->h->steps.len - 1);
    *added = (struct wndl_holder_step){
        .place = place,
        .parent = parent,
        .sibling = step_at(w, parent)->child,
        .is_root = is_root,
    };
    step_at(w, parent)->child = step;
    *known = step;
    return step;
}

static void count_block(struct wndl_holder_step *step, uint64_t size,
    const struct wndl_heap_edge *e)
{
    const uint64_t offset = e == NULL ? 0 : (uint64_t)e->offset * WORD;
    step->offsets_differ |= step->blocks != 0 && step->offset != offset;
    step->offset = step->blocks == 0 ? offset : step->offset;
    step->blocks++;
    step->bytes += size;
    step->conservative += e != NULL && e->conservative;
}

/* Follows the chain of a block. */
static bool add_chain(struct walk *w, uint32_t block)
{
    const struct wndl_heap_graph *g = &w->h->graph;
    const struct wndl_heap_reach *reach = &w->known->reach;
    const uint64_t size = wndl_heap_block_size(g, w->known->heap, block);
    const struct wndl_heap_edge *edge = NULL;
    uint32_t node = block, step = 0;
    for (int i = 0; i < WNDL_HOLDER_STEPS; i++) {
        step = step_of(w, step, place_of(w, node), node >= g->block_count);
        if (step == 0)
            return false;
        count_block(step_at(w, step), size, edge);
        const uint32_t last = w->last[node];
        step_at(w, step)->repeats |= last != node;
        node = reach->holders[last];
        if (node == WNDL_NO_INDEX)
            return true;
        edge = &g->edges[reach->edges[last]];
    }
    return true;
}

static bool has_text(
    const struct wndl_heap_holders *h, uint32_t place, const char *text)
{
    const struct wndl_bytes s = wndl_intern_get(&h->strings, place);
    return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

static bool add_chains(struct walk *w, const char *place)
{
    const struct wndl_heap_holders *h = w->h;
    if (!join_places(w) || wndl_vec_push(&w->h->steps) == NULL)
        return false;
    for (uint32_t i = 0; i < h->graph.block_count; i++) {
        if (has_text(h, place_of(w, i), place) && !add_chain(w, i))
            return false;
    }
    return true;
}

bool wndl_holder_steps_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, const char *place)
{
    struct walk w = {.h = h, .known = known};
    wndl_arena_init(&w.scratch, h->arena.mem);
    wndl_map_init(&w.steps, &w.scratch);
    const bool is_filled = add_chains(&w, place);
    wndl_arena_free(&w.scratch);
    return is_filled;
}

/* ---- one block */

static bool add_pointer(struct walk *w, struct wndl_vec *to, uint32_t node,
    const struct wndl_heap_edge *e)
{
    const struct wndl_heap_graph *g = &w->h->graph;
    const bool is_root = node >= g->block_count;
    struct wndl_heap_pointer *p = wndl_vec_push(to);
    if (p == NULL)
        return false;
    *p = (struct wndl_heap_pointer){
        .place = place_of(w, node),
        .address = is_root ? g->roots[node - g->block_count].address
                           : g->addresses[node],
        .offset = e == NULL ? 0 : (uint64_t)e->offset * WORD,
        .is_root = is_root,
        .conservative = e != NULL && e->conservative,
    };
    return true;
}

static bool add_from(
    struct walk *w, struct wndl_heap_block_view *view, uint32_t block)
{
    const struct wndl_heap_graph *g = &w->h->graph;
    for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
        for (uint32_t e = g->first_edge[n]; e < g->first_edge[n + 1]; e++) {
            if (g->edges[e].target == block &&
                !add_pointer(w, &view->from, n, &g->edges[e]))
                return false;
        }
    }
    return true;
}

static bool add_to(
    struct walk *w, struct wndl_heap_block_view *view, uint32_t block)
{
    const struct wndl_heap_graph *g = &w->h->graph;
    for (uint32_t e = g->first_edge[block]; e < g->first_edge[block + 1]; e++) {
        if (!add_pointer(w, &view->to, g->edges[e].target, &g->edges[e]))
            return false;
    }
    return true;
}

static bool add_holders(
    struct walk *w, struct wndl_heap_block_view *view, uint32_t block)
{
    const struct wndl_heap_reach *reach = &w->known->reach;
    for (uint32_t n = block; reach->holders[n] != WNDL_NO_INDEX;
         n = reach->holders[n]) {
        if (!add_pointer(w, &view->chain, reach->holders[n],
                &w->h->graph.edges[reach->edges[n]]))
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
    struct walk w = {.h = h, .known = known};
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
        .place = place_of(&w, block),
        .is_lost = known->reach.holders[block] == WNDL_NO_INDEX,
    };
    wndl_vec_init(&view->from, &h->arena, sizeof(struct wndl_heap_pointer));
    wndl_vec_init(&view->to, &h->arena, sizeof(struct wndl_heap_pointer));
    wndl_vec_init(&view->chain, &h->arena, sizeof(struct wndl_heap_pointer));
    return add_from(&w, view, block) && add_to(&w, view, block) &&
                   add_holders(&w, view, block)
               ? WNDL_OK
               : wndl_fail(err, WNDL_NOMEM, "out of memory");
}
