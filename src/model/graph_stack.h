/* SPDX-License-Identifier: MIT */
/*
 * graph_stack: what readers of files of stacks share: a stack that becomes
 * part of a call graph, frame by frame, and what could not be read.
 */
#ifndef WNDL_MODEL_GRAPH_STACK_H
#define WNDL_MODEL_GRAPH_STACK_H

#include "base/status.h"
#include "model/callgraph.h"

/* ---- what could not be read */

/* Lines, or other units, that were passed over. */
struct wndl_damage {
    uint64_t count;
    uint64_t first;   /* its line from 1 on; of what has no lines its offset */
    const char *what; /* of the first, for people; static */
};

void wndl_damage_add(
    struct wndl_damage *damage, uint64_t where, const char *what);

/* ---- stacks */

struct wndl_graph_frame {
    struct wndl_bytes name, file, object; /* empty: not known */
    uint32_t line;                        /* 0: not known */
};

/* A stack being read; its places are in the order they were pushed. */
struct wndl_graph_stack {
    struct wndl_callgraph *g;
    struct wndl_arena arena;
    struct wndl_vec places; /* uint32_t */
};

/* `g` outlives it; ends with wndl_graph_stack_free. */
void wndl_graph_stack_init(
    struct wndl_graph_stack *stack, struct wndl_callgraph *g);
void wndl_graph_stack_free(struct wndl_graph_stack *stack);

/* The place of a frame in the graph; false: memory is out. */
bool wndl_graph_place_of(struct wndl_callgraph *g,
    const struct wndl_graph_frame *frame, uint32_t *place);

/* Appends a frame; false: memory is out. */
bool wndl_graph_stack_push(
    struct wndl_graph_stack *stack, const struct wndl_graph_frame *frame);

/* Turns an innermost frame first into an outermost first. */
void wndl_graph_stack_reverse(struct wndl_graph_stack *stack);

/*
 * Adds the stack, outermost frame first, to the graph as `stacks` equal ones,
 * and empties it. `costs` are by event of the graph. NOMEM, or LIMIT with the
 * line where the costs get too large.
 */
enum wndl_status wndl_graph_stack_add(struct wndl_graph_stack *stack,
    const uint64_t *costs, uint64_t stacks, uint64_t line,
    struct wndl_error *err) WNDL_MUST_USE;

/* An event; NOMEM and LIMIT are told of in `err`. The other takes a C string.
 */
enum wndl_status wndl_graph_event_of(struct wndl_callgraph *g,
    struct wndl_bytes name, const char *text, uint32_t *index,
    struct wndl_error *err) WNDL_MUST_USE;
enum wndl_status wndl_graph_event(struct wndl_callgraph *g, const char *name,
    const char *text, uint32_t *index, struct wndl_error *err) WNDL_MUST_USE;

/* What an enum wndl_status of the graph's means to people, in `err`. */
enum wndl_status wndl_graph_fail(
    enum wndl_status status, uint64_t line, struct wndl_error *err);

#endif
