/* SPDX-License-Identifier: MIT */
/*
 * graph_stack: the parts that readers of stack files share: a stack that
 * becomes part of a call graph, frame by frame, and the damage that a reader
 * met.
 */
#ifndef WNDL_MODEL_GRAPH_STACK_H
#define WNDL_MODEL_GRAPH_STACK_H

#include "base/status.h"
#include "model/callgraph.h"

/* ---- damage */

/* Lines, or other units, that a reader skipped. */
struct wndl_damage {
    uint64_t count;
    /* its line, from 1 on; its offset in a file without lines */
    uint64_t first;
    const char *what; /* the first one's fault, for people; static */
};

/*
 * Counts damage at `where`, as in `first`. `what` is kept, for the first one
 * only.
 */
void wndl_damage_add(
    struct wndl_damage *damage, uint64_t where, const char *what);

/* ---- stacks */

struct wndl_graph_frame {
    struct wndl_bytes name, file, object; /* empty: not known */
    uint32_t line;                        /* 0: not known */
};

/* A stack that is being read; its places are in the order of the pushes. */
struct wndl_graph_stack {
    struct wndl_callgraph *g;
    struct wndl_arena arena;
    struct wndl_vec places; /* uint32_t */
};

/* Borrows `g`, which outlives it. Ends with wndl_graph_stack_free. */
void wndl_graph_stack_init(
    struct wndl_graph_stack *stack, struct wndl_callgraph *g);
void wndl_graph_stack_free(struct wndl_graph_stack *stack);

/* The place of a frame in the graph, added if new; false: memory is out. */
bool wndl_graph_place_of(struct wndl_callgraph *g,
    const struct wndl_graph_frame *frame, uint32_t *place);

/* Appends a frame; false: memory is out. */
bool wndl_graph_stack_push(
    struct wndl_graph_stack *stack, const struct wndl_graph_frame *frame);

/* Reverses the order of the frames. */
void wndl_graph_stack_reverse(struct wndl_graph_stack *stack);

/*
 * Adds the stack, outermost frame first, to the graph as `stacks` equal ones,
 * and empties it. `costs` has a number for each event of the graph. NOMEM, or
 * LIMIT if the costs get too large, with `line` in `err`.
 */
enum wndl_status wndl_graph_stack_add(struct wndl_graph_stack *stack,
    const uint64_t *costs, uint64_t stacks, uint64_t line,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Adds an event as wndl_callgraph_event does; NOMEM and LIMIT are explained in
 * `err`. The second takes a C string.
 */
enum wndl_status wndl_graph_event_of(struct wndl_callgraph *g,
    struct wndl_bytes name, const char *text, uint32_t *index,
    struct wndl_error *err) WNDL_MUST_USE;
enum wndl_status wndl_graph_event(struct wndl_callgraph *g, const char *name,
    const char *text, uint32_t *index, struct wndl_error *err) WNDL_MUST_USE;

/* Explains a status of the graph in `err`, with `line`, and returns it. */
enum wndl_status wndl_graph_fail(
    enum wndl_status status, uint64_t line, struct wndl_error *err);

#endif
