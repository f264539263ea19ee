/* SPDX-License-Identifier: MIT */
/* heap_blocks: the blocks of a recording's heaps as one list. */
#ifndef WNDL_ANALYZE_HEAP_BLOCKS_H
#define WNDL_ANALYZE_HEAP_BLOCKS_H

#include "analyze/heap/report.h"

/*
 * Adds to `list` the blocks that `choice` selects, and sets the list's mode
 * accordingly. False when memory is out.
 */
bool wndl_heap_list_fill(struct wndl_heap_list *list,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice);

#endif
