/* SPDX-License-Identifier: MIT */
#include "analyze/holders/steps.h"

#include "analyze/holders/members.h"
#include "base/map.h"
#include "model/profile.h"

#include <string.h>

enum { WORD = 8 };

/* Each node hangs below a holder or a dominator. */
struct above {
    const uint32_t *nodes; /* by node; WNDL_NO_INDEX: nothing */
    const uint32_t *edges; /* by node: the pointer from it; or NULL */
    const uint32_t *order; /* nodes, each after what it hangs below */
    uint32_t count;
};

struct walk {
    struct wndl_heap_holders *h;
    const struct wndl_heap_known *known;
    struct wndl_arena scratch;
    struct wndl_vec chains;          /* struct wndl_held_node */
    struct wndl_map children, steps; /* by parent, place and kind */
    uint32_t *of_nodes;              /* the chain of each node */
    struct above above;
    uint32_t most;         /* chains */
    uint32_t shared, lost; /* places above what nothing dominates */
};

static uint32_t place_of(const struct walk *w, uint32_t node)
{
    return wndl_heap_place_of(&w->known->places, &w->h->graph, node);
}

/* ---- chains, from the roots down */

static struct wndl_held_node *chain_at(const struct walk *w, uint32_t chain)
{
    return wndl_vec_at(&w->chains, chain);
}

/* The key of a child in a map. */
static uint64_t key_of(uint32_t parent, uint32_t place, bool is_root)
{
    return (uint64_t)parent << 33 | (uint64_t)place << 1 | is_root;
}

/* The chain up to that place, if it is in `chain`; else 0. */
static uint32_t find_place(const struct walk *w, uint32_t chain, uint32_t place)
{
    while (chain != 0 &&
           (chain_at(w, chain)->place != place || chain_at(w, chain)->is_root))
        chain = chain_at(w, chain)->parent;
    return chain;
}

/* The child of a chain; 0: memory is out. */
static uint32_t child_of(
    struct walk *w, uint32_t parent, uint32_t place, bool is_root)
{
    uint64_t *known =
        wndl_map_put(&w->children, key_of(parent, place, is_root));
    if (known == NULL || *known != 0)
        return known == NULL ? 0 : (uint32_t)*known;
    if (w->chains.len >= w->most && parent != 0)
        return parent;
    struct wndl_held_node *added = wndl_vec_push(&w->chains);
    if (added == NULL)
        return 0;
    *known = w->chains.len - 1;
    *added = (struct wndl_held_node){
        .parent = parent,
        .place = place,
        .depth = chain_at(w, parent)->depth + 1,
        .is_root = is_root,
        .site = WNDL_NO_INDEX,
    };
    return (uint32_t)*known;
}

/* The pointer is in a block of `site`. */
static void note_pointer(const struct walk *w, struct wndl_held_node *c,
    uint32_t site, const struct wndl_heap_edge *e)
{
    const uint64_t offset = (uint64_t)e->offset * WORD;
    c->site = c->pointers == 0
                  ? site
                  : wndl_heap_same_site(w->known->heap, c->site, site);
    c->offsets_differ |= c->pointers != 0 && c->offset != offset;
    c->offset = c->pointers == 0 ? offset : c->offset;
    c->pointers++;
    c->conservative += e->conservative;
}

/* A root is on top, and so are blocks that nothing dominates. */
static uint32_t begin(struct walk *w, uint32_t node)
{
    const uint32_t place = place_of(w, node);
    if (node >= w->h->graph.block_count)
        return child_of(w, 0, place, true);
    const bool is_lost = w->known->reach.holders[node] == WNDL_NO_INDEX;
    const uint32_t top = child_of(w, 0, is_lost ? w->lost : w->shared, true);
    return top == 0 ? 0 : child_of(w, top, place, false);
}

/* The chain of a node; what it hangs below has one. */
static uint32_t extend(struct walk *w, uint32_t node)
{
    const uint32_t holder = w->above.nodes[node];
    if (holder == WNDL_NO_INDEX)
        return begin(w, node);
    const uint32_t above = w->of_nodes[holder], place = place_of(w, node);
    const uint32_t again = find_place(w, above, place);
    if (again != 0) {
        chain_at(w, again)->repeats = true;
        return again;
    }
    if (chain_at(w, above)->depth >= WNDL_HOLDER_STEPS)
        return above;
    const uint32_t chain = child_of(w, above, place, false);
    if (chain != 0 && chain != above && w->above.edges != NULL)
        note_pointer(w, chain_at(w, chain),
            wndl_heap_site_of(&w->h->graph, holder),
            &w->h->graph.edges[w->above.edges[node]]);
    return chain;
}

static bool make_chains(struct walk *w)
{
    const size_t nodes = (size_t)wndl_heap_graph_nodes(&w->h->graph) + 1;
    w->of_nodes = wndl_arena_calloc(&w->scratch, nodes, sizeof *w->of_nodes);
    if (w->of_nodes == NULL || wndl_vec_push(&w->chains) == NULL)
        return false;
    for (uint32_t i = 0; i < w->above.count; i++) {
        const uint32_t node = w->above.order[i], chain = extend(w, node);
        if (chain == 0)
            return false;
        w->of_nodes[node] = chain;
    }
    return true;
}

/* ---- the blocks that were asked for */

static bool has_text(
    const struct wndl_heap_holders *h, uint32_t place, const char *text)
{
    const struct wndl_bytes s = wndl_intern_get(&h->strings, place);
    return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/*
 * Counts the blocks of `place`, NULL: all. Lost blocks have a chain of their
 * place alone.
 */
static bool count_blocks(struct walk *w, const char *place)
{
    const struct wndl_heap_graph *g = &w->h->graph;
    for (uint32_t i = 0; i < g->block_count; i++) {
        const uint32_t at = place_of(w, i);
        if (place != NULL && !has_text(w->h, at, place))
            continue;
        uint32_t chain = w->of_nodes[i];
        chain = chain == 0 ? child_of(w, 0, at, false) : chain;
        if (chain == 0)
            return false;
        chain_at(w, chain)->blocks++;
        chain_at(w, chain)->bytes += wndl_heap_block_size(g, w->known->heap, i);
    }
    return true;
}

/* ---- steps, from the blocks up */

static struct wndl_holder_step *step_at(const struct walk *w, uint32_t step)
{
    return wndl_vec_at(&w->h->steps, step);
}

/* The step after `parent` for a place; 0: memory is out. */
static uint32_t step_of(
    struct walk *w, uint32_t parent, uint32_t place, bool is_root)
{
    uint64_t *known = wndl_map_put(&w->steps, key_of(parent, place, is_root));
    if (known == NULL || *known != 0)
        return known == NULL ? 0 : (uint32_t)*known;
    struct wndl_holder_step *added = wndl_vec_push(&w->h->steps);
    if (added == NULL)
        return 0;
    *known = w->h->steps.len - 1;
    *added = (struct wndl_holder_step){
        .place = place,
        .parent = parent,
        .sibling = step_at(w, parent)->child,
        .is_root = is_root,
        .site = WNDL_NO_INDEX,
    };
    step_at(w, parent)->child = (uint32_t)*known;
    return (uint32_t)*known;
}

/* `below`: the chain whose pointers the place of the step has; NULL: none. */
static void add_to_step(const struct walk *w, struct wndl_holder_step *step,
    const struct wndl_held_node *c, const struct wndl_held_node *below,
    const struct wndl_held_node *all)
{
    const bool is_first = step->blocks == 0;
    step->blocks += all->blocks;
    step->bytes += all->bytes;
    step->repeats |= c->repeats;
    if (below == NULL)
        return;
    step->offsets_differ |=
        below->offsets_differ || (!is_first && step->offset != below->offset);
    step->offset = is_first ? below->offset : step->offset;
    step->site =
        is_first ? below->site
                 : wndl_heap_same_site(w->known->heap, step->site, below->site);
    step->is_conservative |= below->conservative * 2 > below->pointers;
}

static bool add_steps(struct walk *w, const struct wndl_held_node *all)
{
    const struct wndl_held_node *below = NULL;
    uint32_t step = 0;
    for (const struct wndl_held_node *c = all; c->depth != 0;
         below = c, c = chain_at(w, c->parent)) {
        step = step_of(w, step, c->place, c->is_root);
        if (step == 0)
            return false;
        add_to_step(w, step_at(w, step), c, below, all);
    }
    return true;
}

static bool name_members(struct walk *w)
{
    bool is_named = true;
    for (uint32_t i = 1; i < w->h->steps.len && is_named; i++) {
        struct wndl_holder_step *step = step_at(w, i);
        if (!step->offsets_differ)
            is_named = wndl_heap_member(
                w->h, w->known, step->site, step->offset, &step->member);
    }
    return is_named;
}

static bool make_steps(struct walk *w, const char *place)
{
    if (!make_chains(w) || !count_blocks(w, place) ||
        wndl_vec_push(&w->h->steps) == NULL)
        return false;
    for (uint32_t i = 1; i < w->chains.len; i++) {
        if (chain_at(w, i)->blocks != 0 && !add_steps(w, chain_at(w, i)))
            return false;
    }
    return name_members(w);
}

static void open_walk(struct walk *w, struct wndl_arena *chains)
{
    const struct wndl_heap_reach *reach = &w->known->reach;
    w->above = (struct above){
        reach->holders, reach->edges, reach->order, reach->order_count};
    wndl_arena_init(&w->scratch, w->h->arena.mem);
    wndl_vec_init(&w->chains, chains, sizeof(struct wndl_held_node));
    wndl_map_init(&w->children, &w->scratch);
    wndl_map_init(&w->steps, &w->scratch);
}

bool wndl_holder_steps_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, const char *place)
{
    struct walk w = {.h = h, .known = known, .most = UINT32_MAX};
    open_walk(&w, &w.scratch);
    const bool is_filled = make_steps(&w, place);
    wndl_arena_free(&w.scratch);
    return is_filled;
}

/* ---- all blocks */

static bool add_place(
    struct wndl_heap_holders *h, const char *text, uint32_t *place)
{
    const struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    return wndl_intern_add(&h->strings, bytes, place);
}

/* Fills in a tree by what blocks hang below; NULL: by who holds them. */
static bool fill_tree(
    struct walk *w, struct wndl_vec *tree, const struct above *above)
{
    open_walk(w, &w->h->arena);
    if (above != NULL)
        w->above = *above;
    const bool is_filled = make_chains(w) && count_blocks(w, NULL);
    wndl_arena_free(&w->scratch);
    *tree = w->chains;
    return is_filled;
}

bool wndl_holder_trees_fill(
    struct wndl_heap_holders *h, const struct wndl_heap_known *known)
{
    const struct wndl_heap_dominators *d = &known->dominators;
    const struct above dominated = {
        .nodes = d->of, .order = d->order, .count = d->order_count};
    struct walk w = {.h = h, .known = known, .most = WNDL_HELD_NODES};
    if (!add_place(h, "[several roots]", &w.shared) ||
        !add_place(h, "[lost]", &w.lost) ||
        !fill_tree(&w, &h->retained, &dominated))
        return false;
    struct walk chains = {.h = h, .known = known, .most = WNDL_HELD_NODES};
    return fill_tree(&chains, &h->chains, NULL);
}
