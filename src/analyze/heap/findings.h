/* SPDX-License-Identifier: MIT */
/*
 * heap_findings: the findings in a recorded heap, by the code paths that caused
 * them. docs/heap-report.md has the rules.
 */
#ifndef WNDL_ANALYZE_HEAP_FINDINGS_H
#define WNDL_ANALYZE_HEAP_FINDINGS_H

#include "analyze/heap/report.h"

/*
 * Fills in r->findings from the heaps in r->rows. New frames go to the stacks'
 * list; the list's blocks are lost. False when memory is out.
 */
bool wndl_heap_findings_fill(struct wndl_heap_report *r,
    struct wndl_stack_texts *stacks, const struct wndl_heap_choice *choice);

#endif
