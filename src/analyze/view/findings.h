/* SPDX-License-Identifier: MIT */
/* view_findings: what a page tells of the heaps of a recording. */
#ifndef WNDL_ANALYZE_VIEW_FINDINGS_H
#define WNDL_ANALYZE_VIEW_FINDINGS_H

#include "model/symbolized.h"
#include "out/view/view.h"

/*
 * The findings of a report on each heap, at most 50 of a kind, the largest
 * first, in `findings`, a struct wndl_view_finding each, and `arena`. False
 * when memory is out.
 */
bool wndl_view_findings(struct wndl_vec *findings,
    const struct wndl_symbolized *s, struct wndl_arena *arena);

#endif
