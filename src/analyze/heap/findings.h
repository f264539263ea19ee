/* SPDX-License-Identifier: MIT */
/*
 * heap_findings: what in a recorded heap is worth a look, by the code paths
 * that did it. docs/heap-report.md states the rules.
 */
#ifndef WNDL_ANALYZE_HEAP_FINDINGS_H
#define WNDL_ANALYZE_HEAP_FINDINGS_H

#include "analyze/heap/report.h"

/*
 * Fills in r->findings from the heaps in r->rows; new frames go to the
 * stacks' list, whose blocks are none afterwards. False: memory is out.
 */
bool wndl_heap_findings_fill(struct wndl_heap_report *r,
    struct wndl_stack_texts *stacks, const struct wndl_heap_choice *choice);

#endif
