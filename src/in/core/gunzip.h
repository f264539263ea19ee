/* SPDX-License-Identifier: MIT */
/*
 * gunzip: decompresses a gzip file (RFC 1952) piece by piece. It must not know
 * its contents, nor what may follow its members.
 */
#ifndef WNDL_IN_CORE_GUNZIP_H
#define WNDL_IN_CORE_GUNZIP_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

#include <zlib.h>

/* Whether `file`, the beginning of a file, is compressed by gzip. */
bool wndl_gunzip_is_gzip(struct wndl_bytes file);

struct wndl_gunzip {
    struct wndl_bytes file;
    size_t taken; /* bytes of the file that have been read */
    bool between; /* at the start of a member, or after the last */
    z_stream stream;
};

/*
 * Makes a zeroed `stream` unpack gzip in memory of `mem`, which outlives it.
 * NOMEM. inflateEnd() ends it, also after a failure.
 */
enum wndl_status wndl_gunzip_begin(
    z_stream *stream, struct wndl_mem *mem) WNDL_MUST_USE;

/*
 * Opens it. `file` outlives it. Fails only with NOMEM. Ends with
 * wndl_gunzip_close, even after a failure.
 */
enum wndl_status wndl_gunzip_open(struct wndl_gunzip *g, struct wndl_bytes file,
    struct wndl_mem *mem) WNDL_MUST_USE;
void wndl_gunzip_close(struct wndl_gunzip *g);

/*
 * Decompresses *got bytes, at most `room`, to `to`, by one call of zlib. OK;
 * NOT_FOUND at the end of a member; NOMEM; MALFORMED.
 */
enum wndl_status wndl_gunzip_some(
    struct wndl_gunzip *g, uint8_t *to, size_t room, size_t *got) WNDL_MUST_USE;

/*
 * Describes NOMEM, TRUNCATED or MALFORMED in `err`, with the offset in the
 * file. Returns `status`.
 */
enum wndl_status wndl_gunzip_fail(const struct wndl_gunzip *g,
    enum wndl_status status, struct wndl_error *err);

#endif
