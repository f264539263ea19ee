/* SPDX-License-Identifier: MIT */
/* utf8: finds UTF-8 in foreign bytes. */
#ifndef WNDL_BASE_UTF8_H
#define WNDL_BASE_UTF8_H

#include "base/buf.h"

/*
 * The length of the well-formed sequence at `p`, which does not begin with
 * ASCII, or 0. There are no overlong forms, no surrogates, nothing above
 * U+10FFFF. `left` > 0 is the number of bytes.
 */
size_t wndl_utf8_length(const uint8_t *p, size_t left);

/*
 * Whether the character at `p` controls a terminal: U+0000 to U+001F, U+007F to
 * U+009F. `left` > 0 is the number of bytes.
 */
bool wndl_utf8_controls(const uint8_t *p, size_t left);

/*
 * Appends `s` for readers that print it unchanged. Control characters become
 * spaces, bytes that are not UTF-8 become U+FFFD.
 */
void wndl_utf8_plain(struct wndl_buf *buf, struct wndl_bytes s);

/* The same for lines of text; fails if `text` has. */
void wndl_utf8_plain_lines(struct wndl_buf *buf, const struct wndl_buf *text);

/* Appends `s` with U+FFFD for bytes that are not UTF-8. */
void wndl_utf8_repaired(struct wndl_buf *buf, struct wndl_bytes s);

#endif
