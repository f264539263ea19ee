/* SPDX-License-Identifier: MIT */
/*
 * report_text_diff: the cost of the same things in several recordings, as text:
 * the difference of two groups, or a series of more.
 */
#ifndef WNDL_OUT_REPORT_TEXT_DIFF_H
#define WNDL_OUT_REPORT_TEXT_DIFF_H

#include "model/diff.h"
#include "out/report_text/report_text.h"

/*
 * Appends it to `out`. Of the layout, `marks`, `min_percent` and `next` mean
 * nothing here.
 */
void wndl_report_text_diff(const struct wndl_diff *d,
    const struct wndl_text_layout *layout, struct wndl_buf *out);

#endif
