/* SPDX-License-Identifier: MIT */
/* suggest: the functions whose blocks no memory report knows, as text. */
#ifndef WNDL_OUT_REPORT_TEXT_SUGGEST_H
#define WNDL_OUT_REPORT_TEXT_SUGGEST_H

#include "base/buf.h"
#include "model/heap_suggest.h"

/* Appends a line for each function, and how much they hold together. */
void wndl_report_text_suggestions(
    const struct wndl_suggestions *suggestions, struct wndl_buf *out);

#endif
