/* SPDX-License-Identifier: MIT */
/*
 * report_json_diff: a difference or series as JSON (docs/formats/diff-json.md).
 */
#ifndef WNDL_OUT_REPORT_JSON_DIFF_H
#define WNDL_OUT_REPORT_JSON_DIFF_H

#include "base/buf.h"
#include "model/diff.h"

/* Appends it as one object and '\n', with at most `max_rows` rows. */
void wndl_report_json_diff(
    const struct wndl_diff *d, size_t max_rows, struct wndl_buf *out);

#endif
