/* SPDX-License-Identifier: MIT */
#include "analyze/callgraph/cycles.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* ---- components: Tarjan's algorithm, with a stack of its own */

struct search {
    const struct wndl_callgraph *g;
    uint32_t *first;   /* by function, and one more: into callees */
    uint32_t *callees; /* by caller */
    uint32_t *next;    /* by function: the next callee */
    uint32_t *number;  /* by function, from 1 on; 0: not visited */
    uint32_t *low;
    uint32_t *component; /* 0: not known yet */
    /* stacks: the current path; functions without a component yet */
    uint32_t *path, *pending;
    uint32_t depth, waiting;
    uint32_t visited, components;
};

static uint32_t caller_of(const struct wndl_callgraph *g, uint32_t call)
{
    uint32_t place = wndl_callgraph_call_at(g, call)->place;
    return wndl_callgraph_place_at(g, place)->function;
}

static bool take_memory(struct search *s, struct wndl_arena *arena)
{
    size_t functions = s->g->functions.len;
    uint32_t **const each[] = {&s->first, &s->next, &s->number, &s->low,
        &s->component, &s->path, &s->pending};
    s->callees =
        wndl_arena_calloc(arena, s->g->calls.len + 1, sizeof(uint32_t));
    bool taken = s->callees != NULL;
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        *each[i] = wndl_arena_calloc(arena, functions + 2, sizeof(uint32_t));
        taken &= *each[i] != NULL;
    }
    return taken;
}

/* Callees side by side, by a counting sort of the calls. */
static void sort_callees(struct search *s)
{
    uint32_t calls = (uint32_t)s->g->calls.len;
    for (uint32_t i = 0; i < calls; i++)
        s->first[caller_of(s->g, i) + 1]++;
    for (size_t f = 0; f < s->g->functions.len; f++) {
        s->first[f + 1] += s->first[f];
        s->next[f] = s->first[f];
    }
    for (uint32_t i = 0; i < calls; i++)
        s->callees[s->next[caller_of(s->g, i)]++] =
            wndl_callgraph_call_at(s->g, i)->callee;
    memcpy(s->next, s->first, s->g->functions.len * sizeof *s->next);
}

static void visit_function(struct search *s, uint32_t function)
{
    s->number[function] = s->low[function] = ++s->visited;
    s->path[s->depth++] = function;
    s->pending[s->waiting++] = function;
}

static void lower_to(uint32_t *low, uint32_t to)
{
    if (to < *low)
        *low = to;
}

/* Ends the visit of a function, all of whose callees are done. */
static void leave_function(struct search *s, uint32_t function)
{
    s->depth--;
    if (s->depth != 0)
        lower_to(&s->low[s->path[s->depth - 1]], s->low[function]);
    if (s->low[function] != s->number[function])
        return;
    s->components++;
    uint32_t member;
    do {
        member = s->pending[--s->waiting];
        s->component[member] = s->components;
    } while (member != function);
}

static void search_from(struct search *s, uint32_t start)
{
    visit_function(s, start);
    while (s->depth != 0) {
        uint32_t function = s->path[s->depth - 1];
        if (s->next[function] == s->first[function + 1]) {
            leave_function(s, function);
            continue;
        }
        uint32_t callee = s->callees[s->next[function]++];
        if (s->number[callee] == 0)
            visit_function(s, callee);
        else if (s->component[callee] == 0)
            lower_to(&s->low[function], s->number[callee]);
    }
}

bool wndl_callgraph_components(const struct wndl_callgraph *g,
    struct wndl_arena *arena, struct wndl_callgraph_components *components)
{
    struct search s = {.g = g};
    if (!take_memory(&s, arena))
        return false;
    sort_callees(&s);
    for (uint32_t f = 0; f < g->functions.len; f++) {
        if (s.number[f] == 0)
            search_from(&s, f);
    }
    *components = (struct wndl_callgraph_components){s.component, s.components};
    return true;
}

/* ---- names */

enum { NAMES_SHOWN = 3, NAME_LENGTH = 60 };

/* A long name's start, not cut within a character. */
static void add_name(struct wndl_buf *to, struct wndl_bytes name)
{
    size_t size = name.size;
    if (size > NAME_LENGTH) {
        size = NAME_LENGTH;
        while (size > 0 && (name.data[size] & 0xc0) == 0x80)
            size--;
    }
    wndl_buf_add(to, name.data, size);
    if (size < name.size)
        wndl_buf_text(to, "...");
}

static void spell_cycle(const struct wndl_callgraph *g,
    const struct wndl_callgraph_cycle *cycle, uint32_t number,
    struct wndl_buf *to)
{
    const uint32_t *members = (const uint32_t *)g->members.data + cycle->first;
    wndl_buf_clear(to);
    wndl_buf_printf(to, "<cycle %u: ", number);
    for (uint32_t i = 0; i < cycle->count && i < NAMES_SHOWN; i++) {
        if (i != 0)
            wndl_buf_text(to, ", ");
        add_name(to, wndl_intern_get(&g->strings,
                         wndl_callgraph_function_at(g, members[i])->name));
    }
    if (cycle->count > NAMES_SHOWN)
        wndl_buf_printf(to, " and %u more", cycle->count - NAMES_SHOWN);
    wndl_buf_byte(to, '>');
}

/*
 * Makes a name that nothing has, not even in a graph from which this one was
 * read.
 */
static bool name_cycle(struct wndl_callgraph *g,
    struct wndl_callgraph_cycle *cycle, uint32_t *number)
{
    struct wndl_buf name;
    wndl_buf_init(&name, g->arena.mem);
    bool named = true, fresh = false;
    while (named && !fresh) {
        uint32_t known = wndl_intern_count(&g->strings);
        spell_cycle(g, cycle, ++*number, &name);
        named = !name.failed &&
                wndl_intern_add(&g->strings,
                    (struct wndl_bytes){name.data, name.size}, &cycle->name);
        fresh = named && cycle->name == known;
    }
    wndl_buf_free(&name);
    return named;
}

/* ---- cycles */

struct member_order {
    const struct wndl_callgraph *g;
    uint32_t *rank; /* by function, in g->function_order */
};

static int by_cost(const void *a, const void *b, void *context)
{
    const struct member_order *o = context;
    const struct wndl_callgraph *g = o->g;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t cost_x = *wndl_callgraph_costs(&g->through, x);
    uint64_t cost_y = *wndl_callgraph_costs(&g->through, y);
    if (cost_x != cost_y)
        return cost_x > cost_y ? -1 : 1;
    return o->rank[x] < o->rank[y] ? -1 : 1;
}

struct gathering {
    uint32_t *size_of;  /* by component */
    uint32_t *cycle_of; /* by component: its number, 0: none yet */
    uint32_t *filled;   /* by cycle: members so far */
};

/* Cycles in the order of their first functions, and where members go. */
static bool make_cycles(struct wndl_callgraph *g, struct gathering *to,
    const struct wndl_callgraph_components *components)
{
    uint32_t members = 0;
    for (size_t i = 0; i < g->functions.len; i++) {
        uint32_t component = components->of[g->function_order[i]];
        if (to->size_of[component] < 2)
            continue;
        if (to->cycle_of[component] == 0) {
            struct wndl_callgraph_cycle *cycle = wndl_vec_push(&g->cycles);
            if (cycle == NULL)
                return false;
            cycle->first = members;
            cycle->count = to->size_of[component];
            members += cycle->count;
            to->cycle_of[component] = (uint32_t)g->cycles.len;
        }
        wndl_callgraph_function_at(g, g->function_order[i])->cycle =
            to->cycle_of[component];
        if (wndl_vec_push(&g->members) == NULL)
            return false;
    }
    return true;
}

static void fill_members(struct wndl_callgraph *g, struct gathering *to)
{
    uint32_t *members = g->members.data;
    for (size_t i = 0; i < g->functions.len; i++) {
        uint32_t function = g->function_order[i];
        uint32_t cycle = wndl_callgraph_function_at(g, function)->cycle;
        if (cycle == 0)
            continue;
        const struct wndl_callgraph_cycle *c =
            wndl_vec_at(&g->cycles, cycle - 1);
        members[c->first + to->filled[cycle]++] = function;
    }
}

/* The most expensive member comes first. */
static bool sort_members(struct wndl_callgraph *g, struct wndl_arena *arena)
{
    struct member_order order = {
        g, wndl_arena_calloc(arena, g->functions.len, sizeof(uint32_t))};
    if (order.rank == NULL)
        return false;
    for (size_t i = 0; i < g->functions.len; i++)
        order.rank[g->function_order[i]] = (uint32_t)i;
    const struct wndl_callgraph_cycle *cycles = g->cycles.data;
    for (size_t i = 0; i < g->cycles.len; i++)
        qsort_r((uint32_t *)g->members.data + cycles[i].first, cycles[i].count,
            sizeof(uint32_t), by_cost, &order);
    return true;
}

bool wndl_callgraph_find_cycles(struct wndl_callgraph *g,
    struct wndl_arena *arena,
    const struct wndl_callgraph_components *components)
{
    uint32_t count = components->count + 1, number = 0;
    struct gathering to = {
        wndl_arena_calloc(arena, count, sizeof(uint32_t)),
        wndl_arena_calloc(arena, count, sizeof(uint32_t)),
        wndl_arena_calloc(arena, count, sizeof(uint32_t)),
    };
    if (to.size_of == NULL || to.cycle_of == NULL || to.filled == NULL)
        return false;
    for (size_t i = 0; i < g->functions.len; i++)
        to.size_of[components->of[i]]++;
    if (!make_cycles(g, &to, components))
        return false;
    fill_members(g, &to);
    if (!sort_members(g, arena))
        return false;
    struct wndl_callgraph_cycle *cycles = g->cycles.data;
    for (size_t i = 0; i < g->cycles.len; i++) {
        if (!name_cycle(g, &cycles[i], &number))
            return false;
    }
    return true;
}
