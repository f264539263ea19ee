/* SPDX-License-Identifier: MIT */
#include "analyze/holders/tables.h"

#include "model/profile.h"

#include <stdlib.h>

enum { UNKNOWN_SIZE = 8 };

uint64_t wndl_heap_block_size(const struct wndl_heap_graph *g,
    const struct wndl_process_heap *heap, uint32_t block)
{
    if (g->sites[block] == WNDL_NO_INDEX)
        return UNKNOWN_SIZE;
    const struct wndl_alloc_site *site =
        wndl_vec_at(&heap->sites, g->sites[block]);
    return site->requested + site->slop;
}

/* ---- sums by place */

struct sums {
    struct wndl_heap_holders *h;
    const struct wndl_heap_known *known;
    struct wndl_arena scratch;
    struct wndl_heap_retained *rows; /* by place */
    uint32_t *active;          /* by place: blocks on the path from the top */
    uint32_t *child, *sibling; /* by node: of the tree of dominators; +1 */
};

static bool make_sums(struct sums *s)
{
    const size_t places = wndl_intern_count(&s->h->strings);
    const size_t nodes = (size_t)wndl_heap_graph_nodes(&s->h->graph) + 1;
    struct wndl_arena *arena = &s->scratch;
    s->rows = wndl_arena_calloc(arena, places, sizeof *s->rows);
    s->active = wndl_arena_calloc(arena, places, sizeof *s->active);
    s->child = wndl_arena_calloc(arena, nodes, sizeof *s->child);
    s->sibling = wndl_arena_calloc(arena, nodes, sizeof *s->sibling);
    return s->rows != NULL && s->active != NULL && s->child != NULL &&
           s->sibling != NULL;
}

static uint32_t place_of(const struct sums *s, uint32_t node)
{
    return wndl_heap_place_of(&s->known->places, &s->h->graph, node);
}

static int compare_rows(const void *a, const void *b)
{
    const struct wndl_heap_retained *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained < y->retained ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Moves the sums to `table`, the largest first, and clears them. */
static bool move_to(struct sums *s, struct wndl_vec *table)
{
    const uint32_t places = wndl_intern_count(&s->h->strings);
    wndl_vec_init(table, &s->h->arena, sizeof(struct wndl_heap_retained));
    for (uint32_t i = 0; i < places; i++) {
        if (s->rows[i].retained == 0)
            continue;
        struct wndl_heap_retained *row = wndl_vec_push(table);
        if (row == NULL)
            return false;
        *row = s->rows[i];
        row->place = i;
        s->rows[i] = (struct wndl_heap_retained){0};
    }
    if (table->len != 0)
        qsort(table->data, table->len, table->element, compare_rows);
    return true;
}

/* ---- by place, along the tree of dominators */

static void make_tree(struct sums *s)
{
    const struct wndl_heap_dominators *d = &s->known->dominators;
    for (uint32_t i = d->order_count; i-- > 0;) {
        const uint32_t node = d->order[i], above = d->of[node];
        if (above == WNDL_NO_INDEX)
            continue;
        s->sibling[node] = s->child[above];
        s->child[above] = node + 1;
    }
}

static void enter(struct sums *s, uint32_t node)
{
    if (node >= s->h->graph.block_count)
        return;
    const uint32_t place = place_of(s, node);
    struct wndl_heap_retained *row = &s->rows[place];
    row->blocks++;
    row->own += wndl_heap_block_size(&s->h->graph, s->known->heap, node);
    if (s->active[place]++ == 0)
        row->retained += s->known->dominators.retained[node];
}

static void leave(struct sums *s, uint32_t node)
{
    if (node < s->h->graph.block_count)
        s->active[place_of(s, node)]--;
}

/* Visits a node of the tree without a dominator, and all below it. */
static void walk_tree(struct sums *s, uint32_t top)
{
    const uint32_t *above = s->known->dominators.of;
    uint32_t node = top;
    enter(s, node);
    for (;;) {
        if (s->child[node] != 0) {
            node = s->child[node] - 1;
            enter(s, node);
            continue;
        }
        leave(s, node);
        while (node != top && s->sibling[node] == 0) {
            node = above[node];
            leave(s, node);
        }
        if (node == top)
            return;
        node = s->sibling[node] - 1;
        enter(s, node);
    }
}

static bool sum_places(struct sums *s)
{
    const struct wndl_heap_dominators *d = &s->known->dominators;
    make_tree(s);
    for (uint32_t i = 0; i < d->order_count; i++) {
        if (d->of[d->order[i]] == WNDL_NO_INDEX)
            walk_tree(s, d->order[i]);
    }
    return move_to(s, &s->h->by_place);
}

/* ---- roots and leaks, which nothing dominates */

static bool sum_roots(struct sums *s)
{
    const struct wndl_heap_graph *g = &s->h->graph;
    for (uint32_t i = 0; i < g->root_count; i++)
        s->rows[place_of(s, g->block_count + i)].retained +=
            s->known->dominators.retained[g->block_count + i];
    return move_to(s, &s->h->by_root);
}

static bool sum_leaks(struct sums *s)
{
    const struct wndl_heap_dominators *d = &s->known->dominators;
    for (uint32_t i = 0; i < d->leader_count; i++) {
        const uint32_t leader = d->leaders[i];
        struct wndl_heap_retained *row = &s->rows[place_of(s, leader)];
        row->blocks++;
        row->own += wndl_heap_block_size(&s->h->graph, s->known->heap, leader);
        row->retained += d->retained[leader];
    }
    return move_to(s, &s->h->leaks);
}

static void sum_all(
    struct wndl_heap_holders *h, const struct wndl_heap_known *known)
{
    for (uint32_t i = 0; i < h->graph.block_count; i++) {
        const uint64_t size = wndl_heap_block_size(&h->graph, known->heap, i);
        const bool is_lost = known->reach.holders[i] == WNDL_NO_INDEX;
        h->bytes += size;
        h->lost_bytes += is_lost ? size : 0;
        h->lost_blocks += is_lost;
    }
}

bool wndl_heap_tables_fill(
    struct wndl_heap_holders *h, const struct wndl_heap_known *known)
{
    struct sums s = {.h = h, .known = known};
    wndl_arena_init(&s.scratch, h->arena.mem);
    sum_all(h, known);
    const bool is_filled =
        make_sums(&s) && sum_places(&s) && sum_roots(&s) && sum_leaks(&s);
    wndl_arena_free(&s.scratch);
    return is_filled;
}
