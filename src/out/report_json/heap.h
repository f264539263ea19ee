/* SPDX-License-Identifier: MIT */
/*
 * report_json_heap: a report on recorded heaps as JSON
 * (docs/formats/heap-json.md).
 */
#ifndef WNDL_OUT_REPORT_JSON_HEAP_H
#define WNDL_OUT_REPORT_JSON_HEAP_H

#include "base/buf.h"
#include "model/heap_report.h"

/*
 * Appends one JSON object with the first `max_rows` records, and as many
 * findings of each kind.
 */
void wndl_report_json_heap(
    const struct wndl_heap_report *r, size_t max_rows, struct wndl_buf *out);

/* The same for the records of a difference. */
void wndl_report_json_heap_diff(const struct wndl_heap_difference *d,
    size_t max_rows, struct wndl_buf *out);

#endif
