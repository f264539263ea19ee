/* SPDX-License-Identifier: MIT */
/* report_text_parts: what the files of report_text share. */
#ifndef WNDL_OUT_REPORT_TEXT_PARTS_H
#define WNDL_OUT_REPORT_TEXT_PARTS_H

#include "out/report_text.h"

/* A report being written. */
struct wndl_text {
    const struct wndl_report *r;
    const struct wndl_text_layout *layout;
    struct wndl_buf *out;
};

enum { WNDL_NUMBER_SIZE = 32 };

/* "1,234,567" into `text`; returns it. */
char *wndl_text_number(uint64_t value, char text[WNDL_NUMBER_SIZE]);

/* "1.234 s", "12.3 ms", "250 us": four digits or fewer. */
char *wndl_text_time(uint64_t ns, char text[WNDL_NUMBER_SIZE]);

/* `part` of all samples, in percent; 0 when there are none. */
double wndl_text_percent(const struct wndl_text *t, uint64_t part);

/*
 * `s` cut to `columns` (0: not cut) with "..." at its end, and with '?' for
 * what a terminal would take as a command. Returns the columns it took.
 */
size_t wndl_text_cut(
    const struct wndl_text *t, struct wndl_bytes s, size_t columns);
size_t wndl_text_columns(struct wndl_bytes s);

void wndl_text_spaces(const struct wndl_text *t, size_t count);

/* The last part of a path. */
struct wndl_bytes wndl_text_base(struct wndl_bytes path);

/* "file.c:12" of a function's start or a line; empty when not known. */
void wndl_text_place(
    struct wndl_bytes file, uint32_t line, struct wndl_buf *place);

/* Name of the module, as in "[libc.so.6]", without the brackets. */
struct wndl_bytes wndl_text_module(const struct wndl_text *t, uint32_t module);

void wndl_text_head(const struct wndl_text *t);
void wndl_text_table(const struct wndl_text *t);
void wndl_text_tree(const struct wndl_text *t);

#endif
