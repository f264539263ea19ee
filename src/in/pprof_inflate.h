/* SPDX-License-Identifier: MIT */
/* pprof_inflate: decompresses a whole file into memory. */
#ifndef WNDL_IN_PPROF_INFLATE_H
#define WNDL_IN_PPROF_INFLATE_H

#include "base/buf.h"
#include "base/status.h"

/* The largest size of a decompressed file, in bytes. */
#define WNDL_PPROF_MOST (UINT64_C(512) << 20)

/*
 * Appends the contents of all members of a gzip file (RFC 1952) to `out`.
 * NOMEM, LIMIT; TRUNCATED and MALFORMED with the offset in the file.
 */
enum wndl_status wndl_pprof_inflate(struct wndl_bytes file,
    struct wndl_buf *out, struct wndl_error *err) WNDL_MUST_USE;

#endif
