/* SPDX-License-Identifier: MIT */
#include "analyze/holders/dominators.h"

#include "model/profile.h"

#include <string.h>

/*
 * A path that was compressed: its upper end, and the least semidominator on it.
 * They lie together, because both are read in no order: memory takes the time.
 */
struct path {
    uint32_t ancestor, least;
};

/*
 * Numbers of a depth-first search: 0 is a node above all roots and leaders, and
 * `node_of` has the node of each other. Up to `roots_end` are those that roots
 * lead to. By number: `parent` in the search's tree, `semi` the semidominator,
 * `paths`. Some arrays have a second use, before or after the one that they are
 * named for.
 */
struct search {
    const struct wndl_heap_graph *g;
    struct wndl_heap_dominators *d;
    struct wndl_arena scratch;
    uint32_t count, roots_end;
    uint32_t *number;  /* by node; 0: not visited */
    uint32_t *node_of; /* by number */
    uint32_t *parent, *semi;
    struct path *paths;
    uint32_t *next_edge; /* by depth: `paths`, during the search */
    uint32_t *dom;       /* by number: `paths`, at the end */
    uint32_t *stack;     /* the result's `of`, until that is filled in */
    uint32_t *first_source, *sources; /* the edges backwards, by number */
};

static uint32_t *make(struct search *s, size_t count)
{
    return wndl_arena_calloc(&s->scratch, count + 2, sizeof(uint32_t));
}

static bool make_room(struct search *s)
{
    const size_t nodes = wndl_heap_graph_nodes(s->g);
    s->number = make(s, nodes);
    s->parent = make(s, nodes);
    s->semi = make(s, nodes);
    s->next_edge = s->dom = make(s, 2 * nodes + 2);
    s->paths = (struct path *)(void *)s->next_edge;
    s->first_source = make(s, nodes);
    s->sources = make(s, s->g->first_edge[nodes]);
    return s->number != NULL && s->parent != NULL && s->semi != NULL &&
           s->paths != NULL && s->first_source != NULL && s->sources != NULL;
}

/* ---- the search */

/* Visits a node at a depth of the stack. */
static void visit(
    struct search *s, uint32_t node, uint32_t parent, uint32_t depth)
{
    const uint32_t number = ++s->count;
    s->number[node] = number;
    s->node_of[number] = node;
    s->parent[number] = parent;
    s->stack[depth] = node;
    s->next_edge[depth] = s->g->first_edge[node];
}

/* Visits all that `from` leads to and that was not visited before. */
static void search_from(struct search *s, uint32_t from)
{
    uint32_t depth = 1;
    visit(s, from, 0, 0);
    while (depth > 0) {
        const uint32_t node = s->stack[depth - 1];
        if (s->next_edge[depth - 1] == s->g->first_edge[node + 1]) {
            depth--;
            continue;
        }
        const uint32_t to = s->g->edges[s->next_edge[depth - 1]++].target;
        if (s->number[to] == 0)
            visit(s, to, s->number[node], depth++);
    }
}

static void search_roots(struct search *s)
{
    for (uint32_t i = 0; i < s->g->root_count; i++)
        search_from(s, s->g->block_count + i);
    s->roots_end = s->count;
}

/* Begins at any block that was not visited. Returns how often. */
static uint32_t search_rest(struct search *s, uint32_t *begins)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->g->block_count; i++) {
        if (s->number[i] != 0)
            continue;
        begins[count++] = i;
        search_from(s, i);
    }
    return count;
}

static void forget_rest(struct search *s)
{
    for (uint32_t i = s->roots_end + 1; i <= s->count; i++)
        s->number[s->node_of[i]] = 0;
    s->count = s->roots_end;
}

/*
 * No beginning leads to a later one, else it would have visited that. So in the
 * opposite order, those that are not visited lead all the rest.
 */
static bool search_leaks(struct search *s, struct wndl_arena *arena)
{
    struct wndl_heap_dominators *d = s->d;
    uint32_t *begins = s->first_source, *leaders = s->semi;
    uint32_t left = search_rest(s, begins);
    forget_rest(s);
    d->leader_count = 0;
    while (left-- > 0) {
        if (s->number[begins[left]] != 0)
            continue;
        leaders[d->leader_count++] = begins[left];
        search_from(s, begins[left]);
    }
    const size_t size = d->leader_count * sizeof *leaders;
    d->leaders = wndl_arena_alloc(arena, size + sizeof *leaders);
    if (d->leaders != NULL)
        memcpy(d->leaders, leaders, size);
    return d->leaders != NULL;
}

/* ---- edges backwards */

/* The number of an edge's target. That of a later edge is fetched. */
static uint32_t target_of(const struct search *s, uint32_t edge, uint32_t edges)
{
    enum { AHEAD = 16 };
    if (edge + AHEAD < edges)
        __builtin_prefetch(&s->number[s->g->edges[edge + AHEAD].target]);
    return s->number[s->g->edges[edge].target];
}

/* All nodes have a number. */
static void turn_edges(struct search *s)
{
    const struct wndl_heap_graph *g = s->g;
    const uint32_t nodes = wndl_heap_graph_nodes(g);
    const uint32_t edges = g->first_edge[nodes];
    memset(s->first_source, 0, (nodes + 2) * sizeof *s->first_source);
    for (uint32_t e = 0; e < edges; e++)
        s->first_source[target_of(s, e, edges)]++;
    for (uint32_t i = 1; i <= nodes; i++)
        s->first_source[i] += s->first_source[i - 1];
    s->first_source[nodes + 1] = edges;
    for (uint32_t i = 0; i < nodes; i++) {
        for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++)
            s->sources[--s->first_source[target_of(s, e, edges)]] =
                s->number[i];
    }
}

/* ---- semi-NCA */

/* The least semidominator on the path that was linked. */
static uint32_t evaluate(struct search *s, uint32_t v, uint32_t linked)
{
    struct path *const paths = s->paths;
    uint32_t depth = 0;
    if (v < linked)
        return v;
    for (uint32_t at = v; paths[at].ancestor >= linked; at = paths[at].ancestor)
        s->stack[depth++] = at;
    while (depth-- > 0) {
        struct path *const path = &paths[s->stack[depth]];
        const struct path above = paths[path->ancestor];
        if (above.least < path->least)
            path->least = above.least;
        path->ancestor = above.ancestor;
    }
    return paths[v].least;
}

/* Whether a pointer from there counts: what is lost holds nothing. */
static bool is_holder(const struct search *s, uint32_t source, uint32_t v)
{
    return source != 0 && (source <= s->roots_end || v > s->roots_end);
}

/* Roots and leaders hang below number 0. */
static void find_semidominator(struct search *s, uint32_t v)
{
    const uint32_t end = s->parent[v] == 0 ? 0 : s->first_source[v + 1];
    uint32_t least = s->parent[v];
    for (uint32_t i = s->first_source[v]; i < end; i++) {
        const uint32_t source = s->sources[i];
        if (!is_holder(s, source, v))
            continue;
        const uint32_t semi = evaluate(s, source, v + 1);
        least = semi < least ? semi : least;
    }
    s->semi[v] = s->paths[v].least = least;
}

static void find_dominators(struct search *s)
{
    for (uint32_t v = 1; v <= s->count; v++)
        s->paths[v] = (struct path){.ancestor = s->parent[v], .least = v};
    for (uint32_t v = s->count; v > 0; v--)
        find_semidominator(s, v);
    s->dom[0] = 0;
    for (uint32_t v = 1; v <= s->count; v++) {
        s->dom[v] = s->parent[v];
        while (s->dom[v] > s->semi[v])
            s->dom[v] = s->dom[s->dom[v]];
    }
}

/* ---- results */

static void keep_dominators(struct search *s)
{
    for (uint32_t v = 1; v <= s->count; v++)
        s->d->of[s->node_of[v]] =
            s->dom[v] == 0 ? (uint32_t)WNDL_NO_INDEX : s->node_of[s->dom[v]];
    s->d->order_count = s->count;
}

static bool find_all(struct search *s, struct wndl_arena *arena)
{
    if (!make_room(s))
        return false;
    search_roots(s);
    if (!search_leaks(s, arena))
        return false;
    turn_edges(s);
    find_dominators(s);
    keep_dominators(s);
    return true;
}

static void sum_up(struct wndl_heap_dominators *d,
    const struct wndl_heap_graph *g,
    uint64_t (*size_of)(const void *context, uint32_t block),
    const void *context)
{
    for (uint32_t i = 0; i < g->block_count; i++)
        d->retained[i] = size_of(context, i);
    for (uint32_t i = d->order_count; i-- > 0;) {
        const uint32_t node = d->order[i], dominator = d->of[node];
        if (dominator != WNDL_NO_INDEX)
            d->retained[dominator] += d->retained[node];
    }
}

bool wndl_heap_dominators_fill(struct wndl_heap_dominators *d,
    const struct wndl_heap_graph *g,
    uint64_t (*size_of)(const void *context, uint32_t block),
    const void *context, struct wndl_arena *arena)
{
    const size_t nodes = (size_t)wndl_heap_graph_nodes(g) + 2;
    struct search s = {.g = g, .d = d};
    wndl_arena_init(&s.scratch, arena->mem);
    d->of = s.stack = wndl_arena_calloc(arena, nodes, sizeof *d->of);
    s.node_of = wndl_arena_calloc(arena, nodes, sizeof *s.node_of);
    bool is_filled =
        s.stack != NULL && s.node_of != NULL && find_all(&s, arena);
    wndl_arena_free(&s.scratch);
    if (!is_filled)
        return false;
    d->order = s.node_of + 1;
    d->retained = wndl_arena_calloc(arena, nodes, sizeof *d->retained);
    if (d->retained != NULL)
        sum_up(d, g, size_of, context);
    return d->retained != NULL;
}
