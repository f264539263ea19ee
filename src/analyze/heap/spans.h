/* SPDX-License-Identifier: MIT */
/*
 * heap_spans: the blocks of heaps as costs, so that whatever reads the costs of
 * a profile (selections, tables, trees) also reads bytes.
 */
#ifndef WNDL_ANALYZE_HEAP_SPANS_H
#define WNDL_ANALYZE_HEAP_SPANS_H

#include "analyze/heap/report.h"

/*
 * Replaces the samples and the blocked times of `p` by one blocked time for
 * each site of the chosen heaps: its duration is the site's usable bytes
 * (WNDL_TIME_BYTES), its thread the first of the process. Counts by walk end
 * follow. False when memory is out.
 */
bool wndl_heap_as_spans(
    struct wndl_profile *p, const struct wndl_heap_choice *choice);

/*
 * The whole part of a value and of what `*carry` has from those before it, so
 * that rounded parts have the right sum. At most 10^18.
 */
uint64_t wndl_take_whole(double value, double *carry);

#endif
