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
 * Appends `s` for readers that print it unchanged. Control characters of ASCII
 * become spaces, bytes that are not UTF-8 become U+FFFD.
 */
void wndl_utf8_plain(struct wndl_buf *buf, struct wndl_bytes s);

/* Appends `s` with U+FFFD for bytes that are not UTF-8. */
void wndl_utf8_repaired(struct wndl_buf *buf, struct wndl_bytes s);

#endif
