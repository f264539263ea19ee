/* SPDX-License-Identifier: MIT */
/*
 * stack_filter: stacks as far as a report shows them, numbered, and which of
 * them it shows at all.
 */
#ifndef WNDL_ANALYZE_HEAP_STACK_FILTER_H
#define WNDL_ANALYZE_HEAP_STACK_FILTER_H

#include "analyze/heap/records.h"

/* What a frame's text is asked for, once. */
struct wndl_heap_string {
    uint32_t held; /* the filters whose text it has, as bits */
    bool alloc_fn;
};

struct wndl_stack_filter {
    const struct wndl_heap_list *list;
    const struct wndl_heap_grouping *how;
    struct wndl_arena arena;
    struct wndl_vec strings;   /* struct wndl_heap_string, of those known */
    struct wndl_vec held;      /* uint32_t: by frame, the filters' bits */
    struct wndl_vec ids;       /* uint32_t: texts of the stack at hand */
    struct wndl_intern stacks; /* as such texts, under their numbers */
    struct wndl_map shown_as;  /* leaf -> number */
};

/*
 * `list`, to which frames may still be added, and `how` must outlive it. Ends
 * with wndl_stack_filter_free in any case. False when memory is out.
 */
bool wndl_stack_filter_init(struct wndl_stack_filter *filter,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem);
void wndl_stack_filter_free(struct wndl_stack_filter *filter);

/* Whether something with these stacks is shown; 0 among them is none. False
 * when memory is out. */
bool wndl_stack_filter_passes(struct wndl_stack_filter *filter,
    const uint32_t *leaves, size_t count, bool *passes);

/*
 * The number of the stack as far as it is shown, from 1 on, and that part of
 * it; 0 and no frames for leaf 0. False when memory is out.
 */
bool wndl_stack_filter_stack(struct wndl_stack_filter *filter, uint32_t leaf,
    uint32_t *number, struct wndl_heap_stack *stack);

#endif
