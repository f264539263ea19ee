/* SPDX-License-Identifier: MIT */
#include "analyze/holders/dominators.h"

#include "model/profile.h"

/*
 * A path that was compressed: its upper end, and the least semidominator on it.
 * They lie together, because both are read in no order: memory takes the time.
 */
struct path {
    uint32_t ancestor, least;
};

/* A pointer to a node from one that was visited later, in a list. */
struct back_edge {
    uint32_t source;
    uint32_t next; /* 0: it is the last */
};

/* Edges of a node on the search's stack that are still to be followed. */
struct left {
    uint32_t edge, end;
};

/*
 * Numbers of a depth-first search: 0 is a node above all roots and leaders, and
 * `node_of` has the node of each other. Up to `roots_end` are those that roots
 * lead to. By number: `parent` in the search's tree, `semi` the semidominator,
 * `paths`. Some arrays have a second use, before or after the one that they are
 * named for.
 *
 * The search itself takes all pointers from lower numbers into account, so that
 * only those from higher ones are kept, by target.
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
    struct left *left;    /* by depth: `paths`, during the search */
    uint32_t *dom;        /* by number: `paths`, at the end */
    uint32_t *stack;      /* the result's `of`, until that is filled in */
    uint32_t *first_back; /* by number: of `back`; 0: none */
    struct back_edge *back;
    uint32_t back_count;
};

static uint32_t *make(struct search *s, size_t count)
{
    return wndl_arena_calloc(&s->scratch, count + 2, sizeof(uint32_t));
}

static bool make_room(struct search *s)
{
    const size_t nodes = wndl_heap_graph_nodes(s->g);
    const size_t edges = s->g->first_edge[nodes];
    s->number = make(s, nodes);
    s->parent = make(s, nodes);
    s->semi = make(s, nodes);
    s->first_back = make(s, nodes);
    s->dom = make(s, 2 * nodes + 2);
    s->paths = (struct path *)(void *)s->dom;
    s->left = (struct left *)(void *)s->dom;
    s->back =
        wndl_arena_calloc(&s->scratch, edges + 1, sizeof(struct back_edge));
    return s->number != NULL && s->parent != NULL && s->semi != NULL &&
           s->first_back != NULL && s->dom != NULL && s->back != NULL;
}

/* ---- the search */

/* Visits a node at a depth of the stack, which holds numbers. */
static void visit(
    struct search *s, uint32_t node, uint32_t parent, uint32_t depth)
{
    const uint32_t number = ++s->count;
    s->number[node] = number;
    s->node_of[number] = node;
    s->parent[number] = s->semi[number] = parent;
    s->first_back[number] = 0;
    s->stack[depth] = number;
    s->left[depth] = (struct left){
        s->g->first_edge[node],
        s->g->first_edge[node + 1],
    };
}

/* A lost node holds nothing that roots lead to. */
static void add_edge(struct search *s, uint32_t from, uint32_t to)
{
    if (from < to) {
        s->semi[to] = from < s->semi[to] ? from : s->semi[to];
        return;
    }
    if (from == to || (to <= s->roots_end && from > s->roots_end))
        return;
    s->back[++s->back_count] = (struct back_edge){from, s->first_back[to]};
    s->first_back[to] = s->back_count;
}

/* Visits all that `from` leads to and that was not visited before. */
static void search_from(struct search *s, uint32_t from)
{
    uint32_t depth = 1;
    visit(s, from, 0, 0);
    while (depth > 0) {
        struct left *const left = &s->left[depth - 1];
        if (left->edge == left->end) {
            depth--;
            continue;
        }
        const uint32_t to = s->g->edges[left->edge++].target;
        const uint32_t number = s->stack[depth - 1];
        if (s->number[to] != 0)
            add_edge(s, number, s->number[to]);
        else
            visit(s, to, number, depth++);
    }
}

static void search_roots(struct search *s)
{
    for (uint32_t i = 0; i < s->g->root_count; i++)
        search_from(s, s->g->block_count + i);
    s->roots_end = s->count;
}

/* Begins at any block that was not visited. Returns how often. */
static uint32_t search_rest(struct search *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->g->block_count; i++) {
        if (s->number[i] != 0)
            continue;
        search_from(s, i);
        count++;
    }
    return count;
}

/* Copies the nodes where that began to `begins`, in their order. */
static void forget_rest(struct search *s, uint32_t *begins)
{
    for (uint32_t i = s->roots_end + 1; i <= s->count; i++) {
        s->number[s->node_of[i]] = 0;
        if (s->parent[i] == 0)
            *begins++ = s->node_of[i];
    }
    s->count = s->roots_end;
}

/*
 * No beginning leads to a later one, else it would have visited that. So in the
 * opposite order, those that are not visited lead all the rest.
 */
static bool search_leaks(struct search *s, struct wndl_arena *arena)
{
    struct wndl_heap_dominators *d = s->d;
    const uint32_t kept = s->back_count;
    uint32_t left = search_rest(s);
    uint32_t *const begins = make(s, left);
    d->leader_count = 0;
    d->leaders = wndl_arena_calloc(arena, (size_t)left + 1, sizeof *d->leaders);
    if (begins == NULL || d->leaders == NULL)
        return false;
    forget_rest(s, begins);
    s->back_count = kept;
    while (left-- > 0) {
        if (s->number[begins[left]] != 0)
            continue;
        d->leaders[d->leader_count++] = begins[left];
        search_from(s, begins[left]);
    }
    return true;
}

/* ---- semi-NCA */

/* The least semidominator on the path that was linked. */
static uint32_t evaluate(struct search *s, uint32_t v, uint32_t linked)
{
    struct path *const paths = s->paths;
    uint32_t depth = 0;
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

/* Roots and leaders hang below number 0. */
static void find_semidominator(struct search *s, uint32_t v)
{
    uint32_t least = s->semi[v];
    for (uint32_t i = s->first_back[v]; i != 0; i = s->back[i].next) {
        const uint32_t semi = evaluate(s, s->back[i].source, v + 1);
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
