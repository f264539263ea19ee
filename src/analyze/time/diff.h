/* SPDX-License-Identifier: MIT */
/*
 * diff: recordings as columns of a struct wndl_diff, one after the other, so
 * that only one has to be in memory at a time. Each costs one step for every
 * frame of every distinct stack.
 */
#ifndef WNDL_ANALYZE_TIME_DIFF_H
#define WNDL_ANALYZE_TIME_DIFF_H

#include "analyze/heap/report.h"
#include "model/costs.h"
#include "model/diff.h"
#include "model/symbolized.h"

/*
 * Sums up what threads spent, or what the blocks of heaps take, by what
 * `d->by` says, as that of the last recording of `d`. A stack counts once
 * towards the total of each thing that is in it. Heaps are not by thread;
 * their unit is that of choice->grouping.sort. False when memory is out.
 */
bool wndl_diff_add_time(
    struct wndl_diff *d, const struct wndl_symbolized *s, enum wndl_time time);
bool wndl_diff_add_heap(struct wndl_diff *d, const struct wndl_symbolized *s,
    const struct wndl_heap_choice *choice);

/*
 * To be called once, when all recordings are there: makes rows of what passes
 * all filters, as heap/records.h has them; the largest change first, of two
 * groups such as are beyond noise before others. False when memory is out.
 */
bool wndl_diff_finish(struct wndl_diff *d, const char *const *filters);

#endif
