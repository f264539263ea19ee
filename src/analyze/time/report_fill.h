/* SPDX-License-Identifier: MIT */
/*
 * tables: self and total cost by function, line, module, thread, process. A
 * sample counts once towards the total of each thing on its stack, however
 * often recursion repeats it. It takes a few passes over samples and blocks and
 * one over the stack nodes.
 */
#ifndef WNDL_ANALYZE_TIME_REPORT_FILL_H
#define WNDL_ANALYZE_TIME_REPORT_FILL_H

#include "model/report.h"

/*
 * Fills in all of `r` except the tree, for `view` and `time`. By thread there
 * is a row for every thread, else for everything with a cost. `s` and its
 * profile must outlive it. Ends with wndl_report_free, even after a failure.
 * False when memory is out.
 */
bool wndl_report_fill(struct wndl_report *r, const struct wndl_symbolized *s,
    enum wndl_view view, enum wndl_time time, struct wndl_mem *mem);

void wndl_report_free(struct wndl_report *r);

#endif
