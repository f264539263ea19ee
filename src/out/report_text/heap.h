/* SPDX-License-Identifier: MIT */
/*
 * report_text_heap: the part of a report on recorded heaps before its records,
 * as text.
 */
#ifndef WNDL_OUT_REPORT_TEXT_HEAP_H
#define WNDL_OUT_REPORT_TEXT_HEAP_H

#include "base/buf.h"
#include "model/heap_report.h"

/*
 * Appends the head, the processes if there are several, and the first few
 * findings of each kind. Commands are cut to `width` columns; 0: not cut.
 * `packages` have the debug information that is missing; NULL: not known.
 */
void wndl_report_text_heap(const struct wndl_heap_report *r, unsigned width,
    const char *packages, struct wndl_buf *out);

/*
 * Appends the head's lines on amounts and quality; if `recorded`, after those
 * on the recording.
 */
void wndl_report_text_heap_figures(
    const struct wndl_heap_report *r, bool recorded, struct wndl_buf *out);

/* "Leaks, definite". Static string. */
const char *wndl_report_finding_title(enum wndl_finding_kind kind);

/*
 * Appends the lines of a finding in the report without its stack; of two stacks
 * it has only the innermost frames.
 */
void wndl_report_finding_text(const struct wndl_heap_report *r,
    enum wndl_finding_kind kind, const struct wndl_finding *row,
    struct wndl_buf *out);

/* Appends a frame's text with its names shortened: "function (file:line)". */
void wndl_report_heap_place(struct wndl_bytes frame, struct wndl_buf *out);

/* Appends whose the parts of resident memory are. */
void wndl_text_places(
    const struct wndl_heap_report *r, unsigned width, struct wndl_buf *out);

/* Appends a few functions: where blocks were allocated < its callers. */
void wndl_report_heap_callers(const struct wndl_heap_list *list,
    struct wndl_heap_stack stack, struct wndl_buf *out);

/* ---- private to the files of report_text_heap */

/* Appends what was held at the peak, cut to `width` columns; 0: not cut. */
void wndl_text_holders(
    const struct wndl_heap_report *r, unsigned width, struct wndl_buf *out);

/* Appends the findings of all kinds to `out`. */
void wndl_text_findings(const struct wndl_heap_report *r, struct wndl_buf *out);

#endif
