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

/* The same for a C string. */
void wndl_json_text(struct wndl_buf *buf, const char *text);

#endif
