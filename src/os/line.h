/* SPDX-License-Identifier: MIT */
/*
 * line: a line of text, put together and written in signal handlers: bare
 * system calls, no libc, errno kept.
 */
#ifndef WNDL_OS_LINE_H
#define WNDL_OS_LINE_H

#include <stddef.h>
#include <stdint.h>

/* A line that fits is written at once, and so does not mix with others'. */
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

/* Foreign text: control characters, which could end the line, become '?'. */
void wndl_line_foreign(struct wndl_line *line, const char *text);

/* "0x1f". */
void wndl_line_hex(struct wndl_line *line, uint64_t value);

/* With zeros before it for at least `digits`, at most 20. */
void wndl_line_decimal(struct wndl_line *line, uint64_t value, unsigned digits);

/* Adds the newline and writes what there is. What cannot be is lost. */
void wndl_line_end(struct wndl_line *line);

#endif
