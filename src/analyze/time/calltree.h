/* SPDX-License-Identifier: MIT */
/*
 * calltree: builds a struct wndl_calltree from a profile's samples and blocks.
 * Costs one step for each distinct stack node and each of them.
 */
#ifndef WNDL_ANALYZE_TIME_CALLTREE_H
#define WNDL_ANALYZE_TIME_CALLTREE_H

#include "analyze/heap/report.h"
#include "model/calltree.h"
#include "model/symbolized.h"

/* What frames are merged by, and how siblings are ordered. */
enum wndl_calltree_shape {
    WNDL_TREE_FOR_READING, /* by function; by total */
    WNDL_TREE_FOR_FOLDING, /* below process and thread; by name, in order */
};

/*
 * Builds `tree`, whose nodes have been initialised empty, for the time asked
 * for. Stacks that do not reach their thread's start hang below a label, as
 * wndl_cost_item_label has it. With WNDL_TREE_FOR_FOLDING the first level is
 * the name of the process's program, and if any process has two threads or more
 * the second is the thread's. New strings go to s->strings. False when memory
 * is out.
 */
bool wndl_calltree_build(struct wndl_calltree *tree, struct wndl_symbolized *s,
    enum wndl_calltree_shape shape, enum wndl_time time);

/*
 * The same for the blocks of heaps with WNDL_TREE_FOR_FOLDING, below process
 * alone: time is their usable bytes, or their number. False when memory is
 * out.
 */
bool wndl_calltree_build_heap(struct wndl_calltree *tree,
    struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    bool bytes);

#endif
