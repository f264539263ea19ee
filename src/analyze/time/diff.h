/* SPDX-License-Identifier: MIT */
/*
 * diff: adds recordings to a struct wndl_diff, one after the other, so that
 * only one has to be in memory at a time. Each costs one step for every frame
 * of every distinct stack.
 */
#ifndef WNDL_ANALYZE_TIME_DIFF_H
#define WNDL_ANALYZE_TIME_DIFF_H

#include "analyze/heap/report.h"
#include "model/costs.h"
#include "model/diff.h"
#include "model/symbolized.h"

/*
 * Add the time of threads, or the blocks of heaps, to the last recording of
 * `d`, by the key `d->by`. A stack counts once towards the total of each key in
 * it. Heaps have no key for threads; their unit is that of
 * choice->grouping.sort. False when memory is out.
 */
bool wndl_diff_add_time(
    struct wndl_diff *d, const struct wndl_symbolized *s, enum wndl_time time);
bool wndl_diff_add_heap(struct wndl_diff *d, const struct wndl_symbolized *s,
    const struct wndl_heap_choice *choice);

/*
 * To be called once, after all recordings. Makes rows of the keys that pass all
 * filters (as in heap/records.h), the largest change first; of two groups,
 * changes beyond noise come before others. False when memory is out.
 */
bool wndl_diff_finish(struct wndl_diff *d, const char *const *filters);

#endif
