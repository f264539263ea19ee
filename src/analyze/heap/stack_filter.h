/* SPDX-License-Identifier: MIT */
/*
 * stack_filter: the stacks of a report, numbered by the part that is shown, and
 * the choice of those that are shown.
 */
#ifndef WNDL_ANALYZE_HEAP_STACK_FILTER_H
#define WNDL_ANALYZE_HEAP_STACK_FILTER_H

#include "analyze/heap/records.h"

/* The facts about a frame's text, computed once. */
struct wndl_heap_string {
    uint32_t held; /* a bit for each filter whose text it contains */
    bool alloc_fn;
};

struct wndl_stack_filter {
    const struct wndl_heap_list *list;
    const struct wndl_heap_grouping *how;
    struct wndl_arena arena;
    struct wndl_vec strings; /* struct wndl_heap_string, of the texts so far */
    struct wndl_vec held;    /* uint32_t: by frame, the filters' bits */
    struct wndl_vec ids;     /* uint32_t: texts of the current stack */
    struct wndl_intern stacks; /* as such texts; their ids are the numbers */
    struct wndl_map shown_as;  /* leaf -> number */
};

/*
 * Makes it. `how` must outlive it, and so must `list`, to which frames may
 * still be added. Ends with wndl_stack_filter_free, even after a failure. False
 * when memory is out.
 */
bool wndl_stack_filter_init(struct wndl_stack_filter *filter,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem);
void wndl_stack_filter_free(struct wndl_stack_filter *filter);

/*
 * Sets *passes to whether a thing with these stacks is shown; leaf 0 is no
 * stack. False when memory is out.
 */
bool wndl_stack_filter_passes(struct wndl_stack_filter *filter,
    const uint32_t *leaves, size_t count, bool *passes);

/*
 * Sets *number to the number of the shown part of a stack, from 1 on, and
 * *stack to that part; 0 and no frames for leaf 0. False when memory is out.
 */
bool wndl_stack_filter_stack(struct wndl_stack_filter *filter, uint32_t leaf,
    uint32_t *number, struct wndl_heap_stack *stack);

#endif
