/* SPDX-License-Identifier: MIT */
/* heap_sites: the blocks of a recording's heaps, by their stacks. */
#ifndef WNDL_ANALYZE_HEAP_SITES_H
#define WNDL_ANALYZE_HEAP_SITES_H

#include "analyze/heap/stack_texts.h"
#include "model/heap.h"

/* The side of a comparison: the earlier side counts negative. */
enum wndl_heap_side {
    WNDL_HEAP_SIDE_ONLY,
    WNDL_HEAP_SIDE_EARLIER,
    WNDL_HEAP_SIDE_LATER,
};

/*
 * Adds those blocks of the profile's heap `heap` to the stacks' list, and sets
 * the list's mode accordingly. Lifetimes are not compared. False when memory is
 * out.
 */
bool wndl_heap_sites_add(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, enum wndl_heap_set set,
    enum wndl_heap_side side);

/*
 * The same, but in dark-matter mode the live blocks are those that lived when
 * the memory reporters ran last, with the stacks that reported them.
 */
bool wndl_heap_sites_add_reported(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, enum wndl_heap_set set,
    enum wndl_heap_side side);

/*
 * Adds `count` blocks of one site, without lifetimes. False when memory is out.
 */
bool wndl_heap_sites_add_one(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, uint32_t site, uint64_t count);

#endif
