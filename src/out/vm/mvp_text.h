/* SPDX-License-Identifier: MIT */
/* mvp_text: a memory value profile as text, a line for each site. */
#ifndef WNDL_OUT_VM_MVP_TEXT_H
#define WNDL_OUT_VM_MVP_TEXT_H

#include "base/buf.h"
#include "model/mvp_view.h"

/* Appends the report to `out`; each list has at most `max_rows` lines. False
 * when memory is out. */
bool wndl_mvp_text(
    struct wndl_buf *out, const struct wndl_mvp_view *view, size_t max_rows);

#endif
