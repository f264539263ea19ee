/* SPDX-License-Identifier: MIT */
/* report_json: a report as JSON (docs/formats/report-json.md). */
#ifndef WNDL_OUT_REPORT_JSON_REPORT_JSON_H
#define WNDL_OUT_REPORT_JSON_REPORT_JSON_H

#include "model/report.h"
#include "out/core/json_put.h"

struct wndl_json_layout {
    size_t max_rows;
    bool marks; /* write the marks, not only their number */
};

/* Appends the report as one object and '\n'. */
void wndl_report_json(const struct wndl_report *r,
    const struct wndl_json_layout *layout, struct wndl_buf *out);

#endif
