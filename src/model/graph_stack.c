/* SPDX-License-Identifier: MIT */
#include "model/graph_stack.h"

#include <inttypes.h>
#include <string.h>

void wndl_damage_add(
    struct wndl_damage *damage, uint64_t where, const char *what)
{
    if (damage->count++ != 0)
        return;
    damage->first = where;
    damage->what = what;
}

/* ---- stacks */

void wndl_graph_stack_init(
    struct wndl_graph_stack *stack, struct wndl_callgraph *g)
{
    stack->g = g;
    wndl_arena_init(&stack->arena, g->arena.mem);
    wndl_vec_init(&stack->places, &stack->arena, sizeof(uint32_t));
}

void wndl_graph_stack_free(struct wndl_graph_stack *stack)
{
    wndl_arena_free(&stack->arena);
}

bool wndl_graph_place_of(struct wndl_callgraph *g,
    const struct wndl_graph_frame *frame, uint32_t *place)
{
    struct wndl_callgraph_function f = {0};
    struct wndl_callgraph_place p = {.line = frame->line};
    if (!wndl_intern_add(&g->strings, frame->name, &f.name) ||
        !wndl_intern_add(&g->strings, frame->file, &f.file) ||
        !wndl_intern_add(&g->strings, frame->object, &f.object) ||
        !wndl_callgraph_function(g, f, &p.function))
        return false;
    p.file = f.file;
    return wndl_callgraph_place(g, p, place);
}

bool wndl_graph_stack_push(
    struct wndl_graph_stack *stack, const struct wndl_graph_frame *frame)
{
    uint32_t place;
    if (!wndl_graph_place_of(stack->g, frame, &place))
        return false;
    uint32_t *slot = wndl_vec_push(&stack->places);
    if (slot != NULL)
        *slot = place;
    return slot != NULL;
}

void wndl_graph_stack_reverse(struct wndl_graph_stack *stack)
{
    uint32_t *places = stack->places.data;
    size_t count = stack->places.len;
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t place = places[i];
        places[i] = places[count - 1 - i];
        places[count - 1 - i] = place;
    }
}

enum wndl_status wndl_graph_fail(
    enum wndl_status status, uint64_t line, struct wndl_error *err)
{
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "out of memory");
    if (status == WNDL_LIMIT)
        return wndl_fail(err, status,
            "line %" PRIu64 ": the sum of its costs does not fit 64 bits",
            line);
    return status;
}

enum wndl_status wndl_graph_stack_add(struct wndl_graph_stack *stack,
    const uint64_t *costs, uint64_t stacks, uint64_t line,
    struct wndl_error *err)
{
    const struct wndl_callgraph_stack whole = {
        stack->places.data, stack->places.len, costs, stacks};
    stack->places.len = 0;
    return wndl_graph_fail(
        wndl_callgraph_add_stack(stack->g, &whole), line, err);
}

enum wndl_status wndl_graph_event_of(struct wndl_callgraph *g,
    struct wndl_bytes name, const char *text, uint32_t *index,
    struct wndl_error *err)
{
    enum wndl_status status = wndl_callgraph_event(g, name, text, index);
    return status == WNDL_LIMIT
               ? wndl_fail(err, status, "more than %d kinds of costs",
                     WNDL_CALLGRAPH_EVENTS)
               : wndl_graph_fail(status, 0, err);
}

enum wndl_status wndl_graph_event(struct wndl_callgraph *g, const char *name,
    const char *text, uint32_t *index, struct wndl_error *err)
{
    struct wndl_bytes bytes = {(const uint8_t *)name, strlen(name)};
    return wndl_graph_event_of(g, bytes, text, index, err);
}
