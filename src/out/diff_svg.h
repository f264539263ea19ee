/* SPDX-License-Identifier: MIT */
/*
 * diff_svg: the rows of a series as lines of a plot (SVG 1.1), which needs no
 * script, no font and no other file.
 */
#ifndef WNDL_OUT_DIFF_SVG_H
#define WNDL_OUT_DIFF_SVG_H

#include "base/buf.h"
#include "model/diff.h"

/* The number of lines whose colours can be distinguished. */
enum { WNDL_DIFF_SVG_LINES = 8 };

/*
 * Appends a plot of the first rows' self cost by group, with a bar for the
 * standard deviation where a group has several recordings.
 */
void wndl_diff_svg(const struct wndl_diff *d, struct wndl_buf *out);

#endif
