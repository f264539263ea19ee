/* SPDX-License-Identifier: MIT */
/* lines: reads text line by line. */
#ifndef WNDL_BASE_LINES_H
#define WNDL_BASE_LINES_H

#include "base/bytes.h"

struct wndl_lines {
    struct wndl_bytes left;
    uint64_t number; /* of the last line read, from 1 on */
};

static inline struct wndl_lines wndl_lines_of(struct wndl_bytes file)
{
    return (struct wndl_lines){.left = file};
}

/* Reads the next line without its end, borrowed. False after the last. */
bool wndl_lines_next(struct wndl_lines *lines, struct wndl_bytes *line);

/* The line without leading and trailing spaces and tabs. */
struct wndl_bytes wndl_line_trimmed(struct wndl_bytes line);

/* Reads a number of digits only that fits; else false. */
bool wndl_line_number(struct wndl_bytes text, uint64_t *value);

#endif
