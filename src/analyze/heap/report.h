/* SPDX-License-Identifier: MIT */
/* heap_report: sums recorded heaps up for a report. */
#ifndef WNDL_ANALYZE_HEAP_REPORT_H
#define WNDL_ANALYZE_HEAP_REPORT_H

#include "analyze/heap/records.h"
#include "analyze/heap/sites.h"
#include "model/heap_report.h"

struct wndl_heap_choice {
    enum wndl_heap_set set;
    uint64_t pid; /* of the only process that counts; 0: all do */
    const struct wndl_process_heap *only; /* NULL: all of those */
    bool without_findings;                /* which take most of the time */
    struct wndl_heap_grouping grouping;
};

/* Whether the heap is that of a process that counts. */
bool wndl_heap_chosen(const struct wndl_profile *p,
    const struct wndl_process_heap *heap,
    const struct wndl_heap_choice *choice);

/*
 * Fills in all of `r` but what `choice` does without; it stays where it is. `s`
 * and its profile must outlive it, and so must the texts of `choice`. Ends with
 * wndl_heap_report_free in any case. False when memory is out.
 */
bool wndl_heap_report_fill(struct wndl_heap_report *r,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    struct wndl_mem *mem);
void wndl_heap_report_free(struct wndl_heap_report *r);

/* "live", "peak", "all", "temporary". */
const char *wndl_heap_set_name(enum wndl_heap_set set);

#endif
