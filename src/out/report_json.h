/* SPDX-License-Identifier: MIT */
/* report_json: a report for programs to read (docs/formats/report-json.md). */
#ifndef WNDL_OUT_REPORT_JSON_H
#define WNDL_OUT_REPORT_JSON_H

#include "base/buf.h"
#include "model/report.h"

#include <stddef.h>

/* Appends the report, with up to `max_rows` rows, as one object and '\n'. */
void wndl_report_json(
    const struct wndl_report *r, size_t max_rows, struct wndl_buf *out);

#endif
