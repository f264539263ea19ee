/* SPDX-License-Identifier: MIT */
/* report_text_annotated: annotated functions as text. */
#ifndef WNDL_OUT_REPORT_TEXT_ANNOTATED_H
#define WNDL_OUT_REPORT_TEXT_ANNOTATED_H

#include "base/buf.h"
#include "model/annotated.h"

struct wndl_annotated_layout {
    unsigned width;   /* columns to fit in; 0: lines are never cut */
    bool full_names;  /* names stay as they were demangled */
    bool code;        /* instructions, not lines */
    bool callers;     /* a table of callers after each function */
    uint64_t around;  /* lines shown around those with a cost; 0: all */
    size_t functions; /* at most */
};

/* Appends the first functions of `of`, which are filled in. */
void wndl_annotated_text(const struct wndl_annotation *of,
    const struct wndl_annotated_layout *layout, struct wndl_buf *out);

#endif
