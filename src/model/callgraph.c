/* SPDX-License-Identifier: MIT */
#include "model/callgraph.h"

#include <string.h>

/* Costs have room for few events until more are added. */
enum { FEW_EVENTS = 4 };

static void init_vectors(struct wndl_callgraph *g, struct wndl_mem *mem)
{
    enum { COSTS = FEW_EVENTS * sizeof(uint64_t) };
    *g = (struct wndl_callgraph){0};
    wndl_arena_init(&g->arena, mem);
    wndl_vec_init(&g->events, &g->arena, sizeof(struct wndl_callgraph_event));
    wndl_vec_init(
        &g->functions, &g->arena, sizeof(struct wndl_callgraph_function));
    wndl_vec_init(&g->places, &g->arena, sizeof(struct wndl_callgraph_place));
    wndl_vec_init(&g->calls, &g->arena, sizeof(struct wndl_callgraph_call));
    wndl_vec_init(&g->self, &g->arena, COSTS);
    wndl_vec_init(&g->inclusive, &g->arena, COSTS);
    wndl_vec_init(&g->through, &g->arena, COSTS);
    wndl_vec_init(&g->pairs, &g->arena, sizeof(uint64_t));
    wndl_vec_init(&g->cycles, &g->arena, sizeof(struct wndl_callgraph_cycle));
    wndl_vec_init(&g->members, &g->arena, sizeof(uint32_t));
    wndl_map_init(&g->function_index, &g->arena);
    wndl_map_init(&g->place_index, &g->arena);
    wndl_map_init(&g->call_index, &g->arena);
    wndl_map_init(&g->pair_index, &g->arena);
}

bool wndl_callgraph_text(
    struct wndl_callgraph *g, const char *text, uint32_t *id)
{
    struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    return wndl_intern_add(&g->strings, bytes, id);
}

/* ---- events */

static bool widen_costs(struct wndl_vec *costs)
{
    struct wndl_vec wide;
    wndl_vec_init(
        &wide, costs->arena, WNDL_CALLGRAPH_EVENTS * sizeof(uint64_t));
    if (!wndl_vec_reserve(&wide, costs->len))
        return false;
    for (size_t i = 0; i < costs->len; i++)
        memcpy(wndl_vec_push(&wide), wndl_vec_at(costs, i), costs->element);
    *costs = wide;
    return true;
}

static bool has_room(struct wndl_callgraph *g)
{
    if (g->events.len != FEW_EVENTS ||
        g->through.element > FEW_EVENTS * sizeof(uint64_t))
        return true;
    return widen_costs(&g->self) && widen_costs(&g->inclusive) &&
           widen_costs(&g->through);
}

static bool is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

static bool event_name(
    struct wndl_callgraph *g, struct wndl_bytes name, uint32_t *id)
{
    uint8_t tame[64] = "E";
    size_t size = name.size == 0 || !is_letter(name.data[0]);
    for (size_t i = 0; i < name.size && size < sizeof tame; i++) {
        uint8_t c = name.data[i];
        bool digit = c >= '0' && c <= '9';
        tame[size++] = is_letter(c) || digit ? c : '_';
    }
    return wndl_intern_add(&g->strings, (struct wndl_bytes){tame, size}, id);
}

enum wndl_status wndl_callgraph_event(struct wndl_callgraph *g,
    struct wndl_bytes name, const char *text, uint32_t *index)
{
    struct wndl_callgraph_event fresh = {0};
    if (!event_name(g, name, &fresh.name) ||
        (text != NULL && !wndl_callgraph_text(g, text, &fresh.text)))
        return WNDL_NOMEM;
    const struct wndl_callgraph_event *events = g->events.data;
    for (*index = 0; *index < g->events.len; ++*index) {
        if (events[*index].name == fresh.name)
            return WNDL_OK;
    }
    if (g->events.len == WNDL_CALLGRAPH_EVENTS)
        return WNDL_LIMIT;
    struct wndl_callgraph_event *event =
        has_room(g) ? wndl_vec_push(&g->events) : NULL;
    if (event == NULL)
        return WNDL_NOMEM;
    *event = fresh;
    return WNDL_OK;
}

enum wndl_status wndl_callgraph_events(struct wndl_callgraph *g,
    const struct wndl_callgraph_event_text *events, uint32_t count)
{
    enum wndl_status status = WNDL_OK;
    for (uint32_t i = 0; i < count && status == WNDL_OK; i++) {
        const char *name = events[i].name;
        uint32_t index;
        status = wndl_callgraph_event(g,
            (struct wndl_bytes){(const uint8_t *)name, strlen(name)},
            events[i].text, &index);
    }
    return status;
}

/* ---- functions, places, calls */

/* The slot for index + 1 of the element with this hash; NULL: memory is out. */
static uint64_t *slot_of(struct wndl_map *map, uint64_t hash,
    const struct wndl_vec *vec, const void *element,
    bool (*same)(const void *a, const void *b))
{
    for (;; hash = wndl_hash_u64(hash + 1)) {
        uint64_t *slot = wndl_map_put(map, hash);
        if (slot == NULL || *slot == 0 ||
            same(wndl_vec_at(vec, *slot - 1), element))
            return slot;
    }
}

/*
 * Adds an element with its costs; false when memory, or the numbers, are out.
 */
static bool push_with_costs(
    struct wndl_vec *vec, const void *element, struct wndl_vec *costs)
{
    void *fresh = vec->len < UINT32_MAX - 1 ? wndl_vec_push(vec) : NULL;
    if (fresh == NULL)
        return false;
    memcpy(fresh, element, vec->element);
    if (wndl_vec_push(costs) != NULL)
        return true;
    vec->len--;
    return false;
}

static bool same_function(const void *a, const void *b)
{
    const struct wndl_callgraph_function *f = a, *g = b;
    return f->name == g->name && f->file == g->file && f->object == g->object;
}

bool wndl_callgraph_function(struct wndl_callgraph *g,
    struct wndl_callgraph_function function, uint32_t *index)
{
    uint64_t hash = (uint64_t)function.name << 32 | function.file;
    hash = wndl_hash_u64(wndl_hash_u64(hash) + function.object);
    uint64_t *slot = slot_of(
        &g->function_index, hash, &g->functions, &function, same_function);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        if (!push_with_costs(&g->functions, &function, &g->through))
            return false;
        *slot = g->functions.len;
    }
    *index = (uint32_t)(*slot - 1);
    struct wndl_callgraph_function *known =
        wndl_callgraph_function_at(g, *index);
    if (known->line == 0)
        known->line = function.line;
    return true;
}

static bool same_place(const void *a, const void *b)
{
    const struct wndl_callgraph_place *p = a, *q = b;
    return p->function == q->function && p->file == q->file &&
           p->line == q->line;
}

bool wndl_callgraph_place(struct wndl_callgraph *g,
    struct wndl_callgraph_place place, uint32_t *index)
{
    uint64_t hash = (uint64_t)place.function << 32 | place.line;
    hash = wndl_hash_u64(wndl_hash_u64(hash) + place.file);
    uint64_t *slot =
        slot_of(&g->place_index, hash, &g->places, &place, same_place);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        if (!push_with_costs(&g->places, &place, &g->self))
            return false;
        *slot = g->places.len;
    }
    *index = (uint32_t)(*slot - 1);
    return true;
}

static bool pair_of(
    struct wndl_callgraph *g, uint32_t caller, uint32_t callee, uint32_t *pair)
{
    uint64_t *slot =
        wndl_map_put(&g->pair_index, (uint64_t)caller << 32 | callee);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        if (wndl_vec_push(&g->pairs) == NULL)
            return false;
        *slot = g->pairs.len;
    }
    *pair = (uint32_t)(*slot - 1);
    return true;
}

static bool call_of(
    struct wndl_callgraph *g, uint32_t place, uint32_t callee, uint32_t *index)
{
    uint64_t *slot =
        wndl_map_put(&g->call_index, (uint64_t)place << 32 | callee);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        struct wndl_callgraph_call call = {.place = place, .callee = callee};
        if (!pair_of(g, wndl_callgraph_place_at(g, place)->function, callee,
                &call.pair) ||
            !push_with_costs(&g->calls, &call, &g->inclusive))
            return false;
        *slot = g->calls.len;
    }
    *index = (uint32_t)(*slot - 1);
    return true;
}

/* The root is not in the index: a function of the same name is another one. */
static bool add_root(struct wndl_callgraph *g)
{
    struct wndl_callgraph_function root = {0};
    uint32_t place;
    return wndl_callgraph_text(g, WNDL_CALLGRAPH_ROOT, &root.name) &&
           push_with_costs(&g->functions, &root, &g->through) &&
           wndl_callgraph_place(g, (struct wndl_callgraph_place){0}, &place);
}

bool wndl_callgraph_init(struct wndl_callgraph *g, struct wndl_mem *mem)
{
    init_vectors(g, mem);
    if (wndl_intern_init(&g->strings, &g->arena) && add_root(g))
        return true;
    wndl_callgraph_free(g);
    return false;
}

void wndl_callgraph_free(struct wndl_callgraph *g)
{
    wndl_arena_free(&g->arena);
}

/* ---- costs */

static bool key_fits(
    const struct wndl_callgraph *g, const uint64_t *to, const uint64_t *costs)
{
    for (size_t i = 0; i < g->events.len; i++) {
        if (to[i] + costs[i] < to[i])
            return false;
    }
    return true;
}

static void add_cost(
    const struct wndl_callgraph *g, uint64_t *to, const uint64_t *costs)
{
    for (size_t i = 0; i < g->events.len; i++)
        to[i] += costs[i];
}

/* Adds a cost to the total, except for that of calls from elsewhere. */
static enum wndl_status add_to_total(
    struct wndl_callgraph *g, const uint64_t *costs)
{
    uint64_t *total = wndl_callgraph_costs(&g->through, 0);
    if (!key_fits(g, total, costs))
        return WNDL_LIMIT;
    add_cost(g, total, costs);
    return WNDL_OK;
}

/* One step of a stack, from a place down to a function. */
static enum wndl_status add_step(struct wndl_callgraph *g, uint32_t place,
    uint32_t callee, const struct wndl_callgraph_stack *stack)
{
    uint32_t index;
    if (!call_of(g, place, callee, &index))
        return WNDL_NOMEM;
    struct wndl_callgraph_call *call = wndl_callgraph_call_at(g, index);
    uint64_t *pair_seen = wndl_vec_at(&g->pairs, call->pair);
    uint64_t *costs = wndl_callgraph_costs(&g->inclusive, index);
    if (*pair_seen != g->sequence) {
        if (!key_fits(g, costs, stack->costs) ||
            call->count + stack->stacks < call->count)
            return WNDL_LIMIT;
        *pair_seen = g->sequence;
        add_cost(g, costs, stack->costs);
        call->count += stack->stacks;
    }
    struct wndl_callgraph_function *function =
        wndl_callgraph_function_at(g, callee);
    if (function->seen != g->sequence && callee != 0) {
        function->seen = g->sequence;
        add_cost(g, wndl_callgraph_costs(&g->through, callee), stack->costs);
    }
    return WNDL_OK;
}

enum wndl_status wndl_callgraph_add_stack(
    struct wndl_callgraph *g, const struct wndl_callgraph_stack *stack)
{
    uint32_t place = 0;
    enum wndl_status status = WNDL_OK;
    if (g->stacks + stack->stacks < g->stacks)
        return WNDL_LIMIT;
    status = add_to_total(g, stack->costs);
    if (status != WNDL_OK)
        return status;
    g->stacks += stack->stacks;
    g->sequence++;
    for (size_t i = 0; i < stack->count && status == WNDL_OK; i++) {
        uint32_t next = stack->places[i];
        status = add_step(
            g, place, wndl_callgraph_place_at(g, next)->function, stack);
        place = next;
    }
    if (status == WNDL_OK)
        add_cost(g, wndl_callgraph_costs(&g->self, place), stack->costs);
    return status;
}

enum wndl_status wndl_callgraph_add_call(struct wndl_callgraph *g,
    const struct wndl_callgraph_call *call, const uint64_t *costs)
{
    uint32_t index;
    g->of_calls = true;
    if (!call_of(g, call->place, call->callee, &index))
        return WNDL_NOMEM;
    struct wndl_callgraph_call *known = wndl_callgraph_call_at(g, index);
    uint64_t *sums = wndl_callgraph_costs(&g->inclusive, index);
    if (known->count + call->count < known->count || !key_fits(g, sums, costs))
        return WNDL_LIMIT;
    known->count += call->count;
    add_cost(g, sums, costs);
    return WNDL_OK;
}

enum wndl_status wndl_callgraph_add_self(
    struct wndl_callgraph *g, uint32_t place, const uint64_t *costs)
{
    enum wndl_status status = add_to_total(g, costs);
    g->of_calls = true;
    if (status == WNDL_OK)
        add_cost(g, wndl_callgraph_costs(&g->self, place), costs);
    return status;
}
