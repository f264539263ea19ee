/* SPDX-License-Identifier: MIT */
/* report_json_heap: a report on recorded heaps for programs to read
 * (docs/formats/heap-json.md). */
#ifndef WNDL_OUT_REPORT_JSON_HEAP_H
#define WNDL_OUT_REPORT_JSON_HEAP_H

#include "base/buf.h"
#include "model/heap_report.h"

/* Appends one JSON object: of records, and of each kind of finding, the first
 * `max_rows`. */
void wndl_report_json_heap(
    const struct wndl_heap_report *r, size_t max_rows, struct wndl_buf *out);

/* The same of a difference, of records. */
void wndl_report_json_heap_diff(const struct wndl_heap_difference *d,
    size_t max_rows, struct wndl_buf *out);

#endif
