/* SPDX-License-Identifier: MIT */
/*
 * json: text for JSON writers. Bytes that are not UTF-8 become U+FFFD; our
 * recordings keep them raw.
 */
#ifndef WNDL_BASE_JSON_H
#define WNDL_BASE_JSON_H

#include "base/buf.h"

/* `s` quoted and escaped (RFC 8259, section 7). */
void wndl_json_string(struct wndl_buf *buf, struct wndl_bytes s);

/* The same without the quotes. */
void wndl_json_escaped(struct wndl_buf *buf, struct wndl_bytes s);

/*
 * Adds what `s`, the inside of a JSON string, stands for. False for what
 * RFC 8259 does not allow there: other escapes, half a surrogate pair, bytes
 * that are not UTF-8, control characters, a bare quote; some of it was added
 * then.
 */
bool wndl_json_unescaped(struct wndl_buf *buf, struct wndl_bytes s);

/* wndl_json_string for a C string. */
void wndl_json_text(struct wndl_buf *buf, const char *text);

#endif
