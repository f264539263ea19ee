/* SPDX-License-Identifier: MIT */
/*
 * report_text_heap: the text before the records of a report on heaps.
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

/* Appends the lines of the head on amounts and quality, after those on the
 * recording if `recorded`. */
void wndl_report_text_heap_figures(
    const struct wndl_heap_report *r, bool recorded, struct wndl_buf *out);

/* "Leaks, definite". Static string. */
const char *wndl_report_finding_title(enum wndl_finding_kind kind);

/*
 * Appends the lines of a finding as in the report, without its stack; of two
 * stacks only the ends.
 */
void wndl_report_finding_text(const struct wndl_heap_report *r,
    enum wndl_finding_kind kind, const struct wndl_finding *row,
    struct wndl_buf *out);

/* ---- for the other files of report_text_heap alone */

/* The findings of all kinds; `out` is where the others write, too. */
void wndl_text_findings(const struct wndl_heap_report *r, struct wndl_buf *out);

#endif
