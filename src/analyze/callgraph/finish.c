/* SPDX-License-Identifier: MIT */
/* The last steps of a call graph: the root's calls, cycles, and orders. */
#include "analyze/callgraph/callgraph.h"
#include "analyze/callgraph/cycles.h"

#include <stdlib.h>
#include <string.h>

/* ---- the root's calls */

static uint64_t *costs_of(uint64_t *all, uint32_t component)
{
    return all + (size_t)component * WNDL_CALLGRAPH_EVENTS;
}

static void add_costs(
    const struct wndl_callgraph *g, uint64_t *to, const uint64_t *costs)
{
    for (size_t i = 0; i < g->events.len; i++) {
        if (__builtin_add_overflow(to[i], costs[i], &to[i]))
            to[i] = UINT64_MAX;
    }
}

/*
 * By component: the cost that passed through it, and the cost of recorded calls
 * from outside.
 */
static void sum_flows(const struct wndl_callgraph *g, const uint32_t *of,
    uint64_t *spent, uint64_t *called)
{
    for (uint32_t i = 0; i < g->places.len; i++)
        add_costs(g,
            costs_of(spent, of[wndl_callgraph_place_at(g, i)->function]),
            wndl_callgraph_costs(&g->self, i));
    for (uint32_t i = 0; i < g->calls.len; i++) {
        const struct wndl_callgraph_call *call = wndl_callgraph_call_at(g, i);
        uint32_t from = of[wndl_callgraph_place_at(g, call->place)->function];
        uint32_t to = of[call->callee];
        const uint64_t *costs = wndl_callgraph_costs(&g->inclusive, i);
        if (from == to)
            continue;
        add_costs(g, costs_of(spent, from), costs);
        add_costs(g, costs_of(called, to), costs);
    }
}

/* Subtracts `called` from `spent`, down to 0. Whether anything is left. */
static bool take_off(
    const struct wndl_callgraph *g, uint64_t *spent, const uint64_t *called)
{
    bool left = false;
    for (size_t i = 0; i < g->events.len; i++) {
        spent[i] -= called[i] < spent[i] ? called[i] : spent[i];
        left |= spent[i] != 0;
    }
    return left;
}

/* A component's cost that no caller accounts for, as one of its functions. */
struct entry {
    uint32_t function;
    const uint64_t *costs;
};

/* The most expensive first. */
static int by_cost(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->costs[0] != y->costs[0])
        return x->costs[0] > y->costs[0] ? -1 : 1;
    return x->function < y->function ? -1 : 1;
}

static bool find_entries(const struct wndl_callgraph *g,
    struct wndl_arena *arena, const struct wndl_callgraph_components *c,
    struct wndl_vec *entries)
{
    size_t size = (c->count + 1) * (size_t)WNDL_CALLGRAPH_EVENTS;
    uint64_t *spent = wndl_arena_calloc(arena, size, sizeof *spent);
    uint64_t *called = wndl_arena_calloc(arena, size, sizeof *called);
    bool *seen = wndl_arena_calloc(arena, c->count + 1, sizeof *seen);
    if (spent == NULL || called == NULL || seen == NULL)
        return false;
    sum_flows(g, c->of, spent, called);
    for (uint32_t f = 1; f < g->functions.len; f++) {
        uint64_t *left = costs_of(spent, c->of[f]);
        if (seen[c->of[f]])
            continue;
        seen[c->of[f]] = true;
        if (!take_off(g, left, costs_of(called, c->of[f])))
            continue;
        struct entry *entry = wndl_vec_push(entries);
        if (entry == NULL)
            return false;
        *entry = (struct entry){f, left};
    }
    return true;
}

/* Limits `costs` to the rest of the total, and subtracts it from that. */
static bool cut_costs(
    const struct wndl_callgraph *g, uint64_t *costs, uint64_t *left)
{
    bool any = false;
    for (size_t i = 0; i < g->events.len; i++) {
        costs[i] = costs[i] < left[i] ? costs[i] : left[i];
        left[i] -= costs[i];
        any |= costs[i] != 0;
    }
    return any;
}

/*
 * The cost that no caller accounts for is the root's call. Each call between
 * components counts in one and in the other. So the root's calls add up to the
 * total, if the costs of calls add up in the source graphs; otherwise they are
 * cut to the total.
 */
static bool complete_root(struct wndl_callgraph *g, struct wndl_arena *arena,
    const struct wndl_callgraph_components *c)
{
    uint64_t left[WNDL_CALLGRAPH_EVENTS] = {0};
    struct wndl_vec entries;
    wndl_vec_init(&entries, arena, sizeof(struct entry));
    if (!find_entries(g, arena, c, &entries))
        return false;
    add_costs(g, left, wndl_callgraph_costs(&g->through, 0));
    for (uint32_t i = 0; i < g->calls.len; i++) {
        if (wndl_callgraph_call_at(g, i)->place == 0)
            (void)take_off(g, left, wndl_callgraph_costs(&g->inclusive, i));
    }
    if (entries.len != 0)
        qsort(entries.data, entries.len, entries.element, by_cost);
    for (size_t i = 0; i < entries.len; i++) {
        const struct entry *entry = wndl_vec_at(&entries, i);
        struct wndl_callgraph_call call = {
            .callee = entry->function, .count = 1};
        uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
        add_costs(g, costs, entry->costs);
        if (cut_costs(g, costs, left) &&
            wndl_callgraph_add_call(g, &call, costs) == WNDL_NOMEM)
            return false;
    }
    return true;
}

/* ---- order */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_text(const void *a, const void *b, void *context)
{
    const struct wndl_intern *strings = context;
    struct wndl_bytes x = wndl_intern_get(strings, *(const uint32_t *)a);
    struct wndl_bytes y = wndl_intern_get(strings, *(const uint32_t *)b);
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

struct order {
    const struct wndl_callgraph *g;
    uint32_t *rank_of_text, *rank_of_function, *rank_of_place;
};

static int by_names(const void *a, const void *b, void *context)
{
    const struct order *o = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(o->g, x);
    const struct wndl_callgraph_function *g =
        wndl_callgraph_function_at(o->g, y);
    const uint32_t *rank = o->rank_of_text;
    if (x == 0 || y == 0)
        return compare_numbers(x, y);
    if (f->name != g->name)
        return compare_numbers(rank[f->name], rank[g->name]);
    if (f->file != g->file)
        return compare_numbers(rank[f->file], rank[g->file]);
    return compare_numbers(rank[f->object], rank[g->object]);
}

static int by_function(const void *a, const void *b, void *context)
{
    const struct order *o = context;
    const struct wndl_callgraph_place *p =
        wndl_callgraph_place_at(o->g, *(const uint32_t *)a);
    const struct wndl_callgraph_place *q =
        wndl_callgraph_place_at(o->g, *(const uint32_t *)b);
    if (p->function != q->function)
        return compare_numbers(
            o->rank_of_function[p->function], o->rank_of_function[q->function]);
    if (p->file != q->file)
        return compare_numbers(
            o->rank_of_text[p->file], o->rank_of_text[q->file]);
    return compare_numbers(p->line, q->line);
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct order *o = context;
    const struct wndl_callgraph_call *c =
        wndl_callgraph_call_at(o->g, *(const uint32_t *)a);
    const struct wndl_callgraph_call *d =
        wndl_callgraph_call_at(o->g, *(const uint32_t *)b);
    if (c->place != d->place)
        return compare_numbers(
            o->rank_of_place[c->place], o->rank_of_place[d->place]);
    return compare_numbers(
        o->rank_of_function[c->callee], o->rank_of_function[d->callee]);
}

/* 0 to count - 1, sorted, in memory of `arena`; NULL when that is out. */
static uint32_t *sorted(struct wndl_arena *arena, size_t count,
    int (*by)(const void *a, const void *b, void *context), void *context)
{
    uint32_t *order = wndl_arena_calloc(arena, count + 1, sizeof *order);
    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, by, context);
    return order;
}

/* The position of each element in an order. */
static uint32_t *ranks(
    struct wndl_arena *arena, const uint32_t *order, size_t count)
{
    uint32_t *rank = wndl_arena_calloc(arena, count + 1, sizeof *rank);
    for (size_t i = 0; i < count && rank != NULL && order != NULL; i++)
        rank[order[i]] = (uint32_t)i;
    return order == NULL ? NULL : rank;
}

static bool put_in_order(struct wndl_callgraph *g, struct wndl_arena *scratch)
{
    struct order o = {.g = g};
    size_t texts = wndl_intern_count(&g->strings);
    o.rank_of_text =
        ranks(scratch, sorted(scratch, texts, by_text, &g->strings), texts);
    if (o.rank_of_text == NULL)
        return false;
    g->function_order = sorted(&g->arena, g->functions.len, by_names, &o);
    o.rank_of_function = ranks(scratch, g->function_order, g->functions.len);
    if (o.rank_of_function == NULL)
        return false;
    g->place_order = sorted(&g->arena, g->places.len, by_function, &o);
    o.rank_of_place = ranks(scratch, g->place_order, g->places.len);
    if (o.rank_of_place == NULL)
        return false;
    g->call_order = sorted(&g->arena, g->calls.len, by_place, &o);
    return g->call_order != NULL;
}

static bool finish_graph(
    struct wndl_callgraph *g, struct wndl_arena *scratch, bool collapse)
{
    struct wndl_callgraph_components components;
    if (!wndl_callgraph_components(g, scratch, &components))
        return false;
    if (g->of_calls && !complete_root(g, scratch, &components))
        return false;
    g->collapsed = collapse;
    return put_in_order(g, scratch) &&
           (!collapse || wndl_callgraph_find_cycles(g, scratch, &components));
}

bool wndl_callgraph_finish(struct wndl_callgraph *g, bool collapse)
{
    struct wndl_arena scratch;
    wndl_arena_init(&scratch, g->arena.mem);
    bool finished = finish_graph(g, &scratch, collapse);
    wndl_arena_free(&scratch);
    return finished;
}
