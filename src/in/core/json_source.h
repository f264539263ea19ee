/* SPDX-License-Identifier: MIT */
/*
 * json_source: the text of a JSON file in pieces; the file is plain or
 * compressed by gzip (RFC 1952). The text of a compressed one is never whole in
 * memory.
 */
#ifndef WNDL_IN_CORE_JSON_SOURCE_H
#define WNDL_IN_CORE_JSON_SOURCE_H

#include "in/core/gunzip.h"

enum { WNDL_JSON_SOURCE_WINDOW = 128 << 10 };

struct wndl_json_source {
    struct wndl_gunzip
        gunzip; /* its file and position, also if that is plain */
    struct wndl_mem *mem;
    uint8_t *window; /* NULL: the file is plain */
};

/*
 * Opens it. `file` outlives the source. Fails only with NOMEM. Ends with
 * wndl_json_source_close, even after a failure.
 */
enum wndl_status wndl_json_source_open(struct wndl_json_source *source,
    struct wndl_bytes file, struct wndl_mem *mem) WNDL_MUST_USE;
void wndl_json_source_close(struct wndl_json_source *source);

/*
 * The next piece, valid until the next call, empty at the end. `context` is
 * the source. TRUNCATED and MALFORMED have the offset in the file.
 */
enum wndl_status wndl_json_source_more(void *context, struct wndl_bytes *piece,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
