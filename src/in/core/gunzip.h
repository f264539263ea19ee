/* SPDX-License-Identifier: MIT */
/*
 * gunzip: a file compressed by gzip (RFC 1952), decompressed piece by piece.
 * It must not know what is in it, nor what may stand behind its members.
 */
#ifndef WNDL_IN_CORE_GUNZIP_H
#define WNDL_IN_CORE_GUNZIP_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

#include <zlib.h>

/* Whether bytes that begin so are compressed. */
bool wndl_gunzip_is_gzip(struct wndl_bytes file);

struct wndl_gunzip {
    struct wndl_bytes file;
    size_t taken; /* bytes of it */
    bool between; /* at the start of a member, or behind the last */
    z_stream stream;
};

/* `file` outlives it. NOMEM alone; closed in any case. */
enum wndl_status wndl_gunzip_open(struct wndl_gunzip *g, struct wndl_bytes file,
    struct wndl_mem *mem) WNDL_MUST_USE;
void wndl_gunzip_close(struct wndl_gunzip *g);

/*
 * One call of zlib: *got bytes, at most `room`, come to `to`. OK; NOT_FOUND at
 * the end of a member; NOMEM; MALFORMED.
 */
enum wndl_status wndl_gunzip_some(
    struct wndl_gunzip *g, uint8_t *to, size_t room, size_t *got) WNDL_MUST_USE;

/* The detail of NOMEM, TRUNCATED or MALFORMED, with the offset in the file. */
enum wndl_status wndl_gunzip_fail(const struct wndl_gunzip *g,
    enum wndl_status status, struct wndl_error *err);

#endif
