/* SPDX-License-Identifier: MIT */
/*
 * line: a line of text, built and written in signal handlers: bare system
 * calls, no libc, errno kept.
 */
#ifndef WNDL_OS_LINE_H
#define WNDL_OS_LINE_H

#include <stddef.h>
#include <stdint.h>

/* A line that fits is written at once, so that it does not mix with others. */
struct wndl_line {
    int fd;
    size_t used;
    char text[1000];
};

static inline void wndl_line_init(struct wndl_line *line, int fd)
{
    line->fd = fd;
    line->used = 0;
}

void wndl_line_char(struct wndl_line *line, char c);
void wndl_line_text(struct wndl_line *line, const char *text);

/*
 * Adds foreign text. Control characters, which could end the line, become '?'.
 */
void wndl_line_foreign(struct wndl_line *line, const char *text);

/* Adds a number like "0x1f". */
void wndl_line_hex(struct wndl_line *line, uint64_t value);

/* Adds a number of at least `digits` digits, at most 20, with leading zeros. */
void wndl_line_decimal(struct wndl_line *line, uint64_t value, unsigned digits);

/* Adds the newline and writes the line. A failed write is ignored. */
void wndl_line_end(struct wndl_line *line);

#endif
