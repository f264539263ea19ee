/* SPDX-License-Identifier: MIT */
/*
 * report_text_heap: what a report on recorded heaps says before its records,
 * for people to read.
 */
#ifndef WNDL_OUT_REPORT_TEXT_HEAP_H
#define WNDL_OUT_REPORT_TEXT_HEAP_H

#include "base/buf.h"
#include "model/heap_report.h"

/*
 * Appends the head, the processes if there are several, and the findings, of
 * each kind the first few. `width`: columns that commands are cut to, 0: not.
 */
void wndl_report_text_heap(
    const struct wndl_heap_report *r, unsigned width, struct wndl_buf *out);

/* Of its head the lines on how much there was and how good it is, after those
 * on what was recorded if they are wanted. */
void wndl_report_text_heap_figures(
    const struct wndl_heap_report *r, bool recorded, struct wndl_buf *out);

/* "Leaks, definite". Static string. */
const char *wndl_report_finding_title(enum wndl_finding_kind kind);

/*
 * What a finding is, in lines as they are in the report but for its stack; of
 * two stacks only where they end.
 */
void wndl_report_finding_text(const struct wndl_heap_report *r,
    enum wndl_finding_kind kind, const struct wndl_finding *row,
    struct wndl_buf *out);

/* ---- for the other files of report_text_heap alone */

/* The findings of all kinds; `out` is where the others write, too. */
void wndl_text_findings(const struct wndl_heap_report *r, struct wndl_buf *out);

#endif
