/* SPDX-License-Identifier: MIT */
/* heap_report: sums recorded heaps for a report. */
#ifndef WNDL_ANALYZE_HEAP_REPORT_H
#define WNDL_ANALYZE_HEAP_REPORT_H

#include "analyze/heap/records.h"
#include "analyze/heap/sites.h"
#include "model/heap_report.h"

struct wndl_heap_choice {
    enum wndl_heap_set set;
    uint64_t pid; /* of the only process that is reported; 0: all */
    /* the only heap that is reported; NULL: all of pid */
    const struct wndl_process_heap *only;
    bool without_findings; /* findings take most of the time */
    struct wndl_heap_grouping grouping;
};

/* Whether the heap belongs to a process that `choice` selects. */
bool wndl_heap_chosen(const struct wndl_profile *p,
    const struct wndl_process_heap *heap,
    const struct wndl_heap_choice *choice);

/*
 * Fills in `r`, except for what `choice` leaves out; `r` must not move. `s`,
 * its profile and the texts of `choice` must outlive it. Ends with
 * wndl_heap_report_free, even after a failure. False when memory is out.
 */
bool wndl_heap_report_fill(struct wndl_heap_report *r,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    struct wndl_mem *mem);
void wndl_heap_report_free(struct wndl_heap_report *r);

/* "live", "peak", "all", "temporary". Static string. */
const char *wndl_heap_set_name(enum wndl_heap_set set);

#endif
