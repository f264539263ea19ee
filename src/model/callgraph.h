/* SPDX-License-Identifier: MIT */
/*
 * callgraph: an approximate dynamic call graph, summed from stacks or from
 * other such graphs as they arrive. Memory is bounded by the number of distinct
 * functions, places and pairs of them, however many stacks there are.
 *
 * A stack's cost is the self cost of the place in which it ends. It is also the
 * inclusive cost of every function, and of every pair of caller and callee, in
 * the stack: once for each, however often the stack contains it. A pair's cost
 * is booked at the outermost place of the call.
 */
#ifndef WNDL_MODEL_CALLGRAPH_H
#define WNDL_MODEL_CALLGRAPH_H

#include "base/intern.h"
#include "base/status.h"

/* The largest number of kinds of costs in one graph. */
enum { WNDL_CALLGRAPH_EVENTS = 32 };

/* A kind of cost. Ids of strings; the name has only letters, digits and '_'. */
struct wndl_callgraph_event {
    uint32_t name;
    uint32_t text; /* for people, 0: none */
};

/* A function, distinct by its three texts: ids of strings, 0: not known. */
struct wndl_callgraph_function {
    uint32_t name, file, object;
    uint32_t line;  /* of its start, 0: not known */
    uint32_t cycle; /* number of its cycle, from 1 on; 0: in none */
    uint64_t seen;  /* sequence number of the last stack that contained it */
};

/* A place in a function; distinct by all three fields. */
struct wndl_callgraph_place {
    uint32_t function;
    uint32_t file; /* id, of the line's file: code may come from another file */
    uint32_t line; /* 0: not known */
};

/*
 * A call, distinct by place and callee. `count` is of stacks, or of calls where
 * their number is known.
 */
struct wndl_callgraph_call {
    uint32_t place, callee;
    uint32_t pair;
    uint64_t count;
};

/* Functions that all call each other, directly or through one another. */
struct wndl_callgraph_cycle {
    uint32_t name;         /* id: "<cycle 1: f, g>" */
    uint32_t first, count; /* of members */
};

/*
 * The graph. functions[0] is the root, the caller of every function that
 * nothing else calls; places[0] is in it. No name finds the root. A row of
 * costs has a number for each event: `self` by place, `inclusive` by call,
 * `through` by function. The members from `cycles` to `call_order` are empty
 * until analyze/callgraph/callgraph.h fills them.
 */
struct wndl_callgraph {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_vec events;    /* struct wndl_callgraph_event */
    struct wndl_vec functions; /* struct wndl_callgraph_function */
    struct wndl_vec places;    /* struct wndl_callgraph_place */
    struct wndl_vec calls;     /* struct wndl_callgraph_call */
    struct wndl_vec self, inclusive, through; /* uint64_t[room for events] */
    /* uint64_t: the last stack that contained the pair */
    struct wndl_vec pairs;
    struct wndl_vec cycles;   /* struct wndl_callgraph_cycle */
    struct wndl_vec members;  /* uint32_t: functions of cycles */
    uint32_t *function_order; /* by name, file, object; the root first */
    uint32_t *place_order;    /* by function in that order, file, line */
    uint32_t *call_order;     /* by place in that order, callee */
    struct wndl_map function_index, place_index, call_index, pair_index;
    uint64_t stacks;   /* added so far, distinct or not */
    uint64_t sequence; /* the number that `seen` and `pairs` hold */
    bool of_calls;  /* some of it comes from counted calls, not from stacks */
    bool collapsed; /* cycles are known, and reports show each as one */
};

#define WNDL_CALLGRAPH_ROOT "[root]"

/*
 * Makes an empty graph, which must not move. False when memory is out. Ends
 * with wndl_callgraph_free. One thread.
 */
bool wndl_callgraph_init(struct wndl_callgraph *g, struct wndl_mem *mem);
void wndl_callgraph_free(struct wndl_callgraph *g);

/* The id of a copy of a text, added if new. False when memory is out. */
bool wndl_callgraph_text(
    struct wndl_callgraph *g, const char *text, uint32_t *id);

/*
 * The index of the event called `name`, added if new; characters that a name
 * may not have become '_'. `text` is for people and may be NULL. NOMEM, or
 * LIMIT after WNDL_CALLGRAPH_EVENTS of them.
 */
enum wndl_status wndl_callgraph_event(struct wndl_callgraph *g,
    struct wndl_bytes name, const char *text, uint32_t *index) WNDL_MUST_USE;

/* An event by its texts. */
struct wndl_callgraph_event_text {
    const char *name;
    const char *text; /* for people */
};

/*
 * Adds `count` events, which must be distinct, to a graph without any: the
 * index of each is its index in `events`. NOMEM, LIMIT.
 */
enum wndl_status wndl_callgraph_events(struct wndl_callgraph *g,
    const struct wndl_callgraph_event_text *events,
    uint32_t count) WNDL_MUST_USE;

/*
 * The index of the function, added if new; `line` is stored if the function is
 * new or had none. False when memory is out.
 */
bool wndl_callgraph_function(struct wndl_callgraph *g,
    struct wndl_callgraph_function function, uint32_t *index);

/*
 * The index of a place in a function of the graph, added if new. False when
 * memory is out.
 */
bool wndl_callgraph_place(struct wndl_callgraph *g,
    struct wndl_callgraph_place place, uint32_t *index);

/*
 * `stacks` equal stacks. `places` has `count` places, the outermost first; with
 * count 0 the cost is the root's own. `costs` has a number for each event of
 * the graph. All borrowed.
 */
struct wndl_callgraph_stack {
    const uint32_t *places;
    size_t count;
    const uint64_t *costs;
    uint64_t stacks;
};

/*
 * Add the cost of stacks; the cost and the number of calls; the cost of what
 * ended in a place. `costs` has a number for each event. NOMEM; LIMIT when a
 * sum would not fit 64 bits. After either, only wndl_callgraph_free may be
 * called.
 */
enum wndl_status wndl_callgraph_add_stack(struct wndl_callgraph *g,
    const struct wndl_callgraph_stack *stack) WNDL_MUST_USE;
enum wndl_status wndl_callgraph_add_call(struct wndl_callgraph *g,
    const struct wndl_callgraph_call *call,
    const uint64_t *costs) WNDL_MUST_USE;
enum wndl_status wndl_callgraph_add_self(struct wndl_callgraph *g,
    uint32_t place, const uint64_t *costs) WNDL_MUST_USE;

/*
 * The function, place or call at `index`, which must be below the count. Valid
 * until the next one is added.
 */
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

/*
 * The costs of a place, call or function, by event. `which` is g->self,
 * g->inclusive or g->through. Valid until the next is added.
 */
static inline uint64_t *wndl_callgraph_costs(
    const struct wndl_vec *which, uint32_t index)
{
    return (uint64_t *)wndl_vec_at(which, index);
}

/*
 * Whether a call stays inside its function or cycle, and cycles are collapsed.
 */
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
