/* SPDX-License-Identifier: MIT */
/*
 * callgraph: an approximate dynamic call graph, summed up from stacks or from
 * other such graphs as they come. Memory is bounded by distinct functions,
 * places and pairs of them, however many stacks there are.
 *
 * A stack's cost is the self cost of the place it ends in, and the inclusive
 * cost of every function and every pair of caller and callee in it, each once
 * for the stack however often it is in it. A pair's cost is told at the
 * outermost place it was called from.
 */
#ifndef WNDL_MODEL_CALLGRAPH_H
#define WNDL_MODEL_CALLGRAPH_H

#include "base/intern.h"
#include "base/status.h"

/* Costs of one graph are of at most so many kinds. */
enum { WNDL_CALLGRAPH_EVENTS = 32 };

/* Ids of strings; the name holds letters, digits and '_' alone. */
struct wndl_callgraph_event {
    uint32_t name;
    uint32_t text; /* for people, 0: none */
};

/* Distinct by its three texts, ids of strings; 0: not known. */
struct wndl_callgraph_function {
    uint32_t name, file, object;
    uint32_t line;  /* of its start, 0: not known */
    uint32_t cycle; /* 0: in none; else its number, from 1 on */
    uint64_t seen;  /* the last stack that it was in */
};

/* Where in a function; distinct by all three. */
struct wndl_callgraph_place {
    uint32_t function;
    uint32_t file; /* id, of the line: code may be of another file */
    uint32_t line; /* 0: not known */
};

/* Distinct by place and callee. `count` is of stacks, or of calls where those
 * are known. */
struct wndl_callgraph_call {
    uint32_t place, callee;
    uint32_t pair;
    uint64_t count;
};

/* Functions that all call each other, perhaps through others of them. */
struct wndl_callgraph_cycle {
    uint32_t name;         /* id: "<cycle 1: f, g>" */
    uint32_t first, count; /* of members */
};

/*
 * functions[0] is the root, which calls whatever nothing else does; places[0]
 * is in it. No name finds it. Costs have a number for each event, of `self` by
 * place, of `inclusive` by call and of `through` by function. What is from
 * `cycles` to `call_order` is empty until analyze/callgraph/callgraph.h fills
 * it in.
 */
struct wndl_callgraph {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_vec events;    /* struct wndl_callgraph_event */
    struct wndl_vec functions; /* struct wndl_callgraph_function */
    struct wndl_vec places;    /* struct wndl_callgraph_place */
    struct wndl_vec calls;     /* struct wndl_callgraph_call */
    struct wndl_vec self, inclusive, through; /* uint64_t[room for events] */
    struct wndl_vec pairs;    /* uint64_t: the last stack that it was in */
    struct wndl_vec cycles;   /* struct wndl_callgraph_cycle */
    struct wndl_vec members;  /* uint32_t: functions of cycles */
    uint32_t *function_order; /* by name, file, object; the root first */
    uint32_t *place_order;    /* by function in that order, file, line */
    uint32_t *call_order;     /* by place in that order, callee */
    struct wndl_map function_index, place_index, call_index, pair_index;
    uint64_t stacks;   /* added so far, distinct or not */
    uint64_t sequence; /* of what `seen` and `pairs` hold */
    bool of_calls;     /* some of it is not from stacks */
    bool collapsed;    /* cycles are known, and told as such */
};

#define WNDL_CALLGRAPH_ROOT "[root]"

/* An empty graph, which stays where it is. False when memory is out. */
bool wndl_callgraph_init(struct wndl_callgraph *g, struct wndl_mem *mem);
void wndl_callgraph_free(struct wndl_callgraph *g);

/* The id of a text, added if new. False when memory is out. */
bool wndl_callgraph_text(
    struct wndl_callgraph *g, const char *text, uint32_t *id);

/*
 * The index of the event called so, added if new; what a name may not hold
 * becomes '_'. `text` may be NULL. NOMEM, or LIMIT for one too many.
 */
enum wndl_status wndl_callgraph_event(struct wndl_callgraph *g,
    struct wndl_bytes name, const char *text, uint32_t *index) WNDL_MUST_USE;

/* The index of the function; its line counts if it is new or had none. */
bool wndl_callgraph_function(struct wndl_callgraph *g,
    struct wndl_callgraph_function function, uint32_t *index);

/* The same for a place of a function that the graph has. */
bool wndl_callgraph_place(struct wndl_callgraph *g,
    struct wndl_callgraph_place place, uint32_t *index);

/* `count` places, the outermost first, none: of the root itself; `costs` by
 * event of the graph, of `stacks` equal stacks. */
struct wndl_callgraph_stack {
    const uint32_t *places;
    size_t count;
    const uint64_t *costs;
    uint64_t stacks;
};

/*
 * Adds stacks; what calls cost, and how often they were; what ended in a
 * place. NOMEM; LIMIT when a sum would not fit 64 bits: after either the graph
 * is good for nothing but its end.
 */
enum wndl_status wndl_callgraph_add_stack(struct wndl_callgraph *g,
    const struct wndl_callgraph_stack *stack) WNDL_MUST_USE;
enum wndl_status wndl_callgraph_add_call(struct wndl_callgraph *g,
    const struct wndl_callgraph_call *call,
    const uint64_t *costs) WNDL_MUST_USE;
enum wndl_status wndl_callgraph_add_self(struct wndl_callgraph *g,
    uint32_t place, const uint64_t *costs) WNDL_MUST_USE;

static inline struct wndl_callgraph_function *wndl_callgraph_function_at(
    const struct wndl_callgraph *g, uint32_t index)
{
    return (struct wndl_callgraph_function *)wndl_vec_at(&g->functions, index);
}

static inline const struct wndl_callgraph_place *wndl_callgraph_place_at(
    const struct wndl_callgraph *g, uint32_t index)
{
    return (const struct wndl_callgraph_place *)wndl_vec_at(&g->places, index);
}

static inline struct wndl_callgraph_call *wndl_callgraph_call_at(
    const struct wndl_callgraph *g, uint32_t index)
{
    return (struct wndl_callgraph_call *)wndl_vec_at(&g->calls, index);
}

/* The costs of a place, call or function, as `which` is. */
static inline uint64_t *wndl_callgraph_costs(
    const struct wndl_vec *which, uint32_t index)
{
    return (uint64_t *)wndl_vec_at(which, index);
}

/* Whether a call stays in its function or cycle, which are collapsed. */
static inline bool wndl_callgraph_is_inner(
    const struct wndl_callgraph *g, const struct wndl_callgraph_call *call)
{
    uint32_t caller = wndl_callgraph_place_at(g, call->place)->function;
    uint32_t cycle = wndl_callgraph_function_at(g, caller)->cycle;
    uint32_t other = wndl_callgraph_function_at(g, call->callee)->cycle;
    return g->collapsed &&
           (caller == call->callee || (cycle != 0 && cycle == other));
}

#endif
