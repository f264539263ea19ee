/* SPDX-License-Identifier: MIT */
/*
 * calltree: builds a struct wndl_calltree from a profile's samples and blocks.
 * It costs one step for each distinct stack node and each sample and block.
 */
#ifndef WNDL_ANALYZE_TIME_CALLTREE_H
#define WNDL_ANALYZE_TIME_CALLTREE_H

#include "analyze/heap/report.h"
#include "model/calltree.h"
#include "model/symbolized.h"

/* The key by which frames are merged, and the order of siblings. */
enum wndl_calltree_shape {
    WNDL_TREE_FOR_READING, /* merged by function; ordered by total */
    /* below process and thread; merged and ordered by name */
    WNDL_TREE_FOR_FOLDING,
};

/*
 * Builds `tree`, whose nodes are initialised and empty, for `time`. Stacks that
 * do not reach their thread's start hang below a label (wndl_cost_item_label).
 * With WNDL_TREE_FOR_FOLDING the first level has the names of programs; if any
 * process has two threads or more, the second level has the names of threads.
 * New strings go to s->strings. False when memory is out.
 */
bool wndl_calltree_build(struct wndl_calltree *tree, struct wndl_symbolized *s,
    enum wndl_calltree_shape shape, enum wndl_time time);

/*
 * The same for the blocks of heaps, with WNDL_TREE_FOR_FOLDING, below the
 * process only; `time` is then usable bytes, or their number. False when memory
 * is out.
 */
bool wndl_calltree_build_heap(struct wndl_calltree *tree,
    struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    bool bytes);

#endif
