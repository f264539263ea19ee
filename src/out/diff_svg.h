/* SPDX-License-Identifier: MIT */
/* diff_svg: the rows of a series as lines of a plot (SVG 1.1), by itself: no
 * script, no font and no file but its own. */
#ifndef WNDL_OUT_DIFF_SVG_H
#define WNDL_OUT_DIFF_SVG_H

#include "base/buf.h"
#include "model/diff.h"

/* At most so many lines have colours that can be told apart. */
enum { WNDL_DIFF_SVG_LINES = 8 };

/*
 * Appends a plot of the first rows' self cost by group, with a bar for the
 * standard deviation where a group has several recordings.
 */
void wndl_diff_svg(const struct wndl_diff *d, struct wndl_buf *out);

#endif
