/* SPDX-License-Identifier: MIT */
/* report_json_annotated: annotated functions as JSON (docs/annotate.md). */
#ifndef WNDL_OUT_REPORT_JSON_ANNOTATED_H
#define WNDL_OUT_REPORT_JSON_ANNOTATED_H

#include "base/buf.h"
#include "model/annotated.h"

/* Appends one object with the first `max_functions`, which are filled in. */
void wndl_annotated_json(const struct wndl_annotation *of, size_t max_functions,
    struct wndl_buf *out);

#endif
