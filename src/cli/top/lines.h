/* SPDX-License-Identifier: MIT */
/* top_lines: the lines of top's table, as text in ASCII. */
#ifndef WNDL_CLI_TOP_LINES_H
#define WNDL_CLI_TOP_LINES_H

#include "cli/top/live.h"

enum { WNDL_TOP_LINE_SIZE = 256 };

enum wndl_top_sort { WNDL_TOP_BY_SELF, WNDL_TOP_BY_TOTAL, WNDL_TOP_BY_NAME };

/* The choices of the user. */
struct wndl_top_view {
    enum wndl_time time;
    enum wndl_top_sort sort;
    const char *filter; /* a text in names; "": all */
    uint32_t expanded;  /* a function whose callers are shown, or NO_INDEX */
};

struct wndl_top_line {
    uint32_t function; /* of a caller that is shown: its own */
    bool is_caller;
    char text[WNDL_TOP_LINE_SIZE];
};

struct wndl_top_lines {
    struct wndl_arena arena;
    struct wndl_vec lines; /* struct wndl_top_line */
    char head[WNDL_TOP_LINE_SIZE], columns[WNDL_TOP_LINE_SIZE];
};

/* Makes the lines, which end with wndl_top_lines_free, even after a failure.
 * False when memory is out. */
bool wndl_top_lines_make(struct wndl_top_lines *lines,
    const struct wndl_top_live *live, const struct wndl_top_view *view);
void wndl_top_lines_free(struct wndl_top_lines *lines);

#endif
