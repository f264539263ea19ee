/* SPDX-License-Identifier: MIT */
/* view_assembly: instructions of the functions that cost most, for a page. */
#ifndef WNDL_ANALYZE_VIEW_ASSEMBLY_H
#define WNDL_ANALYZE_VIEW_ASSEMBLY_H

#include "analyze/annotate/code.h"
#include "out/view/view.h"

/*
 * Adds the code of up to 24 functions, with the CPU time of each instruction,
 * to `codes` (struct wndl_view_code), in `arena`: those with at least 0.5 % of
 * the recording's CPU time themselves, the costliest first. A function whose
 * binary cannot be read, or with more than 4096 instructions, is left out. `s`
 * is changed as by wndl_annotate_read_code. False when memory is out.
 */
bool wndl_view_assembly(struct wndl_vec *codes, struct wndl_symbolized *s,
    const struct wndl_annotate_code *how, struct wndl_arena *arena);

#endif
