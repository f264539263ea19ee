/* SPDX-License-Identifier: MIT */
#include "analyze/holders/steps.h"

#include "base/map.h"
#include "model/profile.h"

#include <string.h>

enum { WORD = 8 };

/*
 * A chain, from a root down to the place of a block, without detours: where a
 * place comes again, all since it came first is left out. So blocks of one or
 * several places that hold each other, as in a list, are one step, however many
 * they are. Chain 0 has no place.
 */
struct chain {
    uint32_t parent; /* the chain without its last place */
    uint32_t place;
    uint32_t depth; /* number of places */
    bool is_root;
    /* The pointers from the place before. */
    uint64_t pointers, conservative, offset;
    bool offsets_differ;
    bool repeats;           /* blocks of the place hold each other */
    uint64_t blocks, bytes; /* of the place, which end here */
};

struct walk {
    struct wndl_heap_holders *h;
    const struct wndl_heap_known *known;
    struct wndl_arena scratch;
    struct wndl_vec chains;          /* struct chain */
    struct wndl_map children, steps; /* by parent, place and kind */
    uint32_t *of_nodes;              /* the chain of each node */
};

static uint32_t place_of(const struct walk *w, uint32_t node)
{
    return wndl_heap_place_of(&w->known->places, &w->h->graph, node);
}

/* ---- chains, from the roots down */

static struct chain *chain_at(const struct walk *w, uint32_t chain)
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
    struct chain *added = wndl_vec_push(&w->chains);
    if (added == NULL)
        return 0;
    *known = w->chains.len - 1;
    *added = (struct chain){
        .parent = parent,
        .place = place,
        .depth = chain_at(w, parent)->depth + 1,
        .is_root = is_root,
    };
    return (uint32_t)*known;
}

static void note_pointer(struct chain *c, const struct wndl_heap_edge *e)
{
    const uint64_t offset = (uint64_t)e->offset * WORD;
    c->offsets_differ |= c->pointers != 0 && c->offset != offset;
    c->offset = c->pointers == 0 ? offset : c->offset;
    c->pointers++;
    c->conservative += e->conservative;
}

/* The chain of a node that is reached, whose holder has one. */
static uint32_t extend(struct walk *w, uint32_t node)
{
    const struct wndl_heap_reach *reach = &w->known->reach;
    const uint32_t holder = reach->holders[node];
    if (holder == WNDL_NO_INDEX)
        return child_of(w, 0, place_of(w, node), true);
    const uint32_t above = w->of_nodes[holder], place = place_of(w, node);
    const uint32_t again = find_place(w, above, place);
    if (again != 0) {
        chain_at(w, again)->repeats = true;
        return again;
    }
    if (chain_at(w, above)->depth >= WNDL_HOLDER_STEPS)
        return above;
    const uint32_t chain = child_of(w, above, place, false);
    if (chain != 0)
        note_pointer(
            chain_at(w, chain), &w->h->graph.edges[reach->edges[node]]);
    return chain;
}

static bool make_chains(struct walk *w)
{
    const struct wndl_heap_reach *reach = &w->known->reach;
    const size_t nodes = (size_t)wndl_heap_graph_nodes(&w->h->graph) + 1;
    w->of_nodes = wndl_arena_calloc(&w->scratch, nodes, sizeof *w->of_nodes);
    if (w->of_nodes == NULL || wndl_vec_push(&w->chains) == NULL)
        return false;
    for (uint32_t i = 0; i < reach->order_count; i++) {
        const uint32_t chain = extend(w, reach->order[i]);
        if (chain == 0)
            return false;
        w->of_nodes[reach->order[i]] = chain;
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

/* Lost blocks have a chain of their place alone. */
static bool count_blocks(struct walk *w, const char *place)
{
    const struct wndl_heap_graph *g = &w->h->graph;
    for (uint32_t i = 0; i < g->block_count; i++) {
        const uint32_t at = place_of(w, i);
        if (!has_text(w->h, at, place))
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
    };
    step_at(w, parent)->child = (uint32_t)*known;
    return (uint32_t)*known;
}

/* `below`: the chain whose pointers the place of the step has; NULL: none. */
static void add_to_step(struct wndl_holder_step *step, const struct chain *c,
    const struct chain *below, const struct chain *all)
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
    step->is_conservative |= below->conservative * 2 > below->pointers;
}

static bool add_steps(struct walk *w, const struct chain *all)
{
    const struct chain *below = NULL;
    uint32_t step = 0;
    for (const struct chain *c = all; c->depth != 0;
         below = c, c = chain_at(w, c->parent)) {
        step = step_of(w, step, c->place, c->is_root);
        if (step == 0)
            return false;
        add_to_step(step_at(w, step), c, below, all);
    }
    return true;
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
    return true;
}

bool wndl_holder_steps_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, const char *place)
{
    struct walk w = {.h = h, .known = known};
    wndl_arena_init(&w.scratch, h->arena.mem);
    wndl_vec_init(&w.chains, &w.scratch, sizeof(struct chain));
    wndl_map_init(&w.children, &w.scratch);
    wndl_map_init(&w.steps, &w.scratch);
    const bool is_filled = make_steps(&w, place);
    wndl_arena_free(&w.scratch);
    return is_filled;
}
