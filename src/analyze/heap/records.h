/* SPDX-License-Identifier: MIT */
/*
 * heap_records: sums heap blocks up into records by their stacks, for a report.
 */
#ifndef WNDL_ANALYZE_HEAP_RECORDS_H
#define WNDL_ANALYZE_HEAP_RECORDS_H

#include "model/heap_records.h"

enum wndl_heap_sort {
    WNDL_HEAP_BY_USABLE,
    WNDL_HEAP_BY_REQUESTED,
    WNDL_HEAP_BY_SLOP,
    WNDL_HEAP_BY_BLOCKS,
};

enum { WNDL_HEAP_FILTERS = 16 };

struct wndl_heap_grouping {
    uint64_t max_frames; /* that tell stacks apart and are shown; > 0 */
    enum wndl_heap_sort sort;
    bool ignore_alloc_fns; /* at the top of stacks, unless nothing is left */
    /*
     * At most WNDL_HEAP_FILTERS, then NULL; all must hold. "text": a frame of
     * one of the stacks has it, also one that is not shown; "!text": none
     * has; a backslash before the first character takes its meaning away.
     */
    const char *const *filters;
};

/*
 * Fills `r` with the records of `list`, which must outlive it: the largest
 * by size first, whichever its sign. What cancels out is left out. Ends with
 * wndl_heap_records_free in any case. False when memory is out.
 */
bool wndl_heap_records_fill(struct wndl_heap_records *r,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem);

void wndl_heap_records_free(struct wndl_heap_records *r);

/* An estimate as a whole number, and the standard error of one, both bounded
 * so that they fit 64 bits with a sign. */
int64_t wndl_heap_whole(double value);
double wndl_heap_error(double variance);

#endif
