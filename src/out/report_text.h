/* SPDX-License-Identifier: MIT */
/*
 * report_text: a report for people to read. It must not know whether it goes
 * to a terminal; the layout says what that means.
 */
#ifndef WNDL_OUT_REPORT_TEXT_H
#define WNDL_OUT_REPORT_TEXT_H

#include "base/buf.h"
#include "model/report.h"

struct wndl_text_layout {
    unsigned width;     /* columns to fit in; 0: names are never cut */
    bool utf8;          /* lines of trees may be drawn */
    size_t max_rows;    /* of the table */
    double min_percent; /* of the tree's nodes */
    const char *next;   /* the command to try next, or NULL */
};

/*
 * Appends the report to `out`: its head, then the call tree if it has one,
 * else the table of rows.
 */
void wndl_report_text(const struct wndl_report *r,
    const struct wndl_text_layout *layout, struct wndl_buf *out);

#endif
