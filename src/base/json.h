/* SPDX-License-Identifier: MIT */
/*
 * json: text for JSON writers. Bytes that are not UTF-8 become U+FFFD;
 * recordings keep them raw.
 */
#ifndef WNDL_BASE_JSON_H
#define WNDL_BASE_JSON_H

#include "base/buf.h"

/* Appends `s`, quoted and escaped (RFC 8259, section 7). */
void wndl_json_string(struct wndl_buf *buf, struct wndl_bytes s);

/* The same without the quotes. */
void wndl_json_escaped(struct wndl_buf *buf, struct wndl_bytes s);

/*
 * Appends the meaning of `s`, the inside of a JSON string. False if RFC 8259
 * does not allow it: other escapes, half a surrogate pair, bytes that are not
 * UTF-8, control characters, a bare quote. A part of it is then appended.
 */
bool wndl_json_unescaped(struct wndl_buf *buf, struct wndl_bytes s);

/* wndl_json_string for a C string. */
void wndl_json_text(struct wndl_buf *buf, const char *text);

#endif
