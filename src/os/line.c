/* SPDX-License-Identifier: MIT */
#include "os/line.h"

#include "os/raw.h"

#include <errno.h>

static void flush(struct wndl_line *line)
{
    for (size_t at = 0; at < line->used;) {
        long n = wndl_raw_write(line->fd, line->text + at, line->used - at);
        if (n <= 0 && n != -EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    line->used = 0;
}

void wndl_line_char(struct wndl_line *line, char c)
{
    if (line->used == sizeof line->text)
        flush(line);
    line->text[line->used++] = c;
}

void wndl_line_text(struct wndl_line *line, const char *text)
{
    for (; *text != '\0'; text++)
        wndl_line_char(line, *text);
}

void wndl_line_foreign(struct wndl_line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        wndl_line_char(line, c < ' ' || c == 0x7f ? '?' : *text);
    }
}

static void number(
    struct wndl_line *line, uint64_t value, unsigned base, unsigned digits)
{
    char reversed[20];
    unsigned used = 0;
    do {
        reversed[used++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0 || used < digits);
    while (used > 0)
        wndl_line_char(line, reversed[--used]);
}

void wndl_line_hex(struct wndl_line *line, uint64_t value)
{
    wndl_line_text(line, "0x");
    number(line, value, 16, 1);
}

void wndl_line_decimal(struct wndl_line *line, uint64_t value, unsigned digits)
{
    number(line, value, 10, digits);
}

void wndl_line_end(struct wndl_line *line)
{
    wndl_line_char(line, '\n');
    flush(line);
}
