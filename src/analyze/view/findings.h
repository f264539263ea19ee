/* SPDX-License-Identifier: MIT */
/* view_findings: the findings on the heaps of a recording for a page. */
#ifndef WNDL_ANALYZE_VIEW_FINDINGS_H
#define WNDL_ANALYZE_VIEW_FINDINGS_H

#include "model/symbolized.h"
#include "out/view/view.h"

/*
 * Adds the findings of a report on each heap, at most 50 of a kind, the largest
 * first, to `findings` (struct wndl_view_finding); texts are in `arena`. False
 * when memory is out.
 */
bool wndl_view_findings(struct wndl_vec *findings,
    const struct wndl_symbolized *s, struct wndl_arena *arena);

#endif
