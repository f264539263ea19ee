/* SPDX-License-Identifier: MIT */
/*
 * report_text: a report as text. It must not know whether it goes to a
 * terminal; the caller sets the layout for it.
 */
#ifndef WNDL_OUT_REPORT_TEXT_REPORT_TEXT_H
#define WNDL_OUT_REPORT_TEXT_REPORT_TEXT_H

#include "base/buf.h"
#include "model/report.h"

struct wndl_text_layout {
    unsigned width;     /* columns to fit in; 0: names are never cut */
    bool full_names;    /* names stay as they were demangled */
    bool utf8;          /* trees may use line-drawing characters */
    bool marks;         /* instead of the table */
    size_t max_rows;    /* of the table */
    double min_percent; /* of the tree's nodes */
    const char *next;   /* the command to try next, or NULL */
    /* Packages of debug information that is missing, or NULL: not known. */
    const char *packages;
};

/* Whether the report has stacks for its time. */
bool wndl_report_has_rows(const struct wndl_report *r);

/*
 * Appends the report to `out`: its head, then the marks if requested, or the
 * call tree if there is one, else the table of rows.
 */
void wndl_report_text(const struct wndl_report *r,
    const struct wndl_text_layout *layout, struct wndl_buf *out);

/* Appends the head's lines on the recording and its quality. */
void wndl_report_text_figures(
    const struct wndl_report *r, struct wndl_buf *out);

/* Appends a number with its noun: "1,234,567 bytes", "1 block". */
void wndl_text_count(struct wndl_buf *out, uint64_t count, const char *noun);

/* ---- private to the files of report_text */

/* A report in the making. */
struct wndl_text {
    const struct wndl_report *r;
    const struct wndl_text_layout *layout;
    struct wndl_buf *out;
};

/* ---- cell.c: contents of a cell or a line */

enum { WNDL_NUMBER_SIZE = 32 };

/* "1,234,567" into `text`; returns it. */
char *wndl_text_number(uint64_t value, char text[WNDL_NUMBER_SIZE]);

/* "1.234 s", "12.3 ms", "250 us": four digits or fewer. */
char *wndl_text_time(uint64_t ns, char text[WNDL_NUMBER_SIZE]);

/* The same for a column: always four digits, "62.00 ms", or "0". */
char *wndl_text_time_cell(uint64_t ns, char text[WNDL_NUMBER_SIZE]);

/* The same for a cost of the report: a time, or bytes of a heap. */
char *wndl_text_cost_cell(
    const struct wndl_text *t, uint64_t cost, char text[WNDL_NUMBER_SIZE]);

/*
 * The share of `ns` in all of the time that is shown, in percent; 0 if there is
 * none.
 */
double wndl_text_percent(const struct wndl_text *t, uint64_t ns);

/* "CPU", "blocked", "wall", "bytes": what is shown. Static string. */
const char *wndl_text_time_kind(const struct wndl_text *t);

/* Whether the recording has reads of blocked threads. */
bool wndl_text_has_blocks(const struct wndl_text *t);

/* Starts a line of the head. */
void wndl_text_label(const struct wndl_text *t, const char *text);

/*
 * Appends NUL-separated arguments as a line, or `executable` if there are none,
 * cut to the width minus `used` columns.
 */
void wndl_text_command(const struct wndl_text *t, struct wndl_bytes arguments,
    struct wndl_bytes executable, unsigned used);

/*
 * Appends `s`, cut to `columns` (0: not cut) with "..." at its end, and with
 * '?' for characters that control a terminal. Returns its columns.
 */
size_t wndl_text_cut(
    const struct wndl_text *t, struct wndl_bytes s, size_t columns);
size_t wndl_text_columns(struct wndl_bytes s);

/*
 * The name of a function as in model/short_name.h, without its qualifiers if it
 * is too long for `room` columns (0: any). It is in `buf`, or it is `name`
 * itself.
 */
struct wndl_bytes wndl_text_name(const struct wndl_text *t,
    struct wndl_bytes name, size_t room, struct wndl_buf *buf);

void wndl_text_spaces(const struct wndl_text *t, size_t count);

/*
 * Sets `place` to "FILE:12", of a function's start or a line; empty when it is
 * not known.
 */
void wndl_text_place(
    struct wndl_bytes file, uint32_t line, struct wndl_buf *place);

/* The name of a module. Borrowed from the symbolized. */
struct wndl_bytes wndl_text_module_name(
    const struct wndl_text *t, uint32_t module);

/* "[libc.so.6]"; "[vdso]" has its brackets already. */
void wndl_text_module(const struct wndl_text *t, struct wndl_bytes name);

/* ---- parts of the report, each appended */

/* The lines on the command and when it was recorded. */
void wndl_text_recorded(const struct wndl_text *t);

void wndl_text_head(const struct wndl_text *t);
void wndl_text_gaps(const struct wndl_text *t);
void wndl_text_marks(const struct wndl_text *t);
void wndl_text_table(const struct wndl_text *t);
void wndl_text_tree(const struct wndl_text *t);

#endif
