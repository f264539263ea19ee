/* SPDX-License-Identifier: MIT */
/*
 * report_text_diff: what several recordings spent on the same things, for
 * people to read: of two groups how they differ, of more a series.
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
