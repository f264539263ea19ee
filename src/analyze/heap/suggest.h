/* SPDX-License-Identifier: MIT */
/*
 * suggest: which functions allocate the blocks that a program's memory reports
 * do not know.
 */
#ifndef WNDL_ANALYZE_HEAP_SUGGEST_H
#define WNDL_ANALYZE_HEAP_SUGGEST_H

#include "analyze/heap/report.h"
#include "model/heap_suggest.h"

/*
 * Fills in the fewest functions of the program's own code such that of the
 * bytes allocated under each at least 90 % are unreported, and together they
 * hold 80 % of the unreported bytes; if there are none, those that hold most.
 * Of two that cover the same it is the deeper one. None is an allocation
 * wrapper, nor the program's first function, unless that allocates most of it
 * itself.
 *
 * `s` must outlive it. Ends with wndl_suggestions_free, even after a failure.
 * False when memory is out.
 */
bool wndl_suggestions_fill(struct wndl_suggestions *suggestions,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    struct wndl_mem *mem);
void wndl_suggestions_free(struct wndl_suggestions *suggestions);

#endif
