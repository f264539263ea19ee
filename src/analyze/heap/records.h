/* SPDX-License-Identifier: MIT */
/*
 * heap_records: sums heap blocks by their stacks into the records of a report.
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
    uint64_t max_frames; /* that distinguish stacks and are shown; > 0 */
    enum wndl_heap_sort sort;
    /* at the top of stacks, unless the stack has no others */
    bool ignore_alloc_fns;
    /*
     * At most WNDL_HEAP_FILTERS, then NULL; all must be true. "text": a frame
     * of one of the stacks contains it, also a frame that is not shown;
     * "!text": none does. \! at the start matches a literal '!'.
     */
    const char *const *filters;
};

/*
 * Fills `r` with the records of `list`, which must outlive it: the largest by
 * absolute size first. Records that cancel out are left out. Ends with
 * wndl_heap_records_free, even after a failure. False when memory is out.
 */
bool wndl_heap_records_fill(struct wndl_heap_records *r,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem);

void wndl_heap_records_free(struct wndl_heap_records *r);

/*
 * An estimate rounded to an integer; the standard error for a variance. Both
 * are clamped so that they fit int64_t.
 */
int64_t wndl_heap_whole(double value);
double wndl_heap_error(double variance);

#endif
