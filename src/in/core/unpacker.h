/* SPDX-License-Identifier: MIT */
/*
 * unpacker: text that is packed by gzip (RFC 1952) or zstd (RFC 8878), as it
 * comes in, piece by piece. Members and frames may be concatenated.
 */
#ifndef WNDL_IN_CORE_UNPACKER_H
#define WNDL_IN_CORE_UNPACKER_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

#include <zlib.h>

enum wndl_packing { WNDL_PACKED_NOT, WNDL_PACKED_GZIP, WNDL_PACKED_ZSTD };

/*
 * How a text that begins so is packed. *more: that is not sure before there
 * are more bytes; four are enough.
 */
enum wndl_packing wndl_packing_of(struct wndl_bytes head, bool *more);

struct wndl_unpacker {
    enum wndl_packing packing;
    bool between;   /* at the start of a member or frame, or after the last */
    uint64_t taken; /* packed bytes so far */
    z_stream z;
    void *zstd;
};

/*
 * Opens it for GZIP or ZSTD. NOMEM. Ends with wndl_unpacker_close, even after a
 * failure.
 */
enum wndl_status wndl_unpacker_open(struct wndl_unpacker *u,
    enum wndl_packing packing, struct wndl_mem *mem) WNDL_MUST_USE;
void wndl_unpacker_close(struct wndl_unpacker *u);

/* Where unpacked bytes go: at most `room` to `data`; `size` of them did. */
struct wndl_unpacked {
    uint8_t *data;
    size_t room;
    size_t size;
};

/*
 * Unpacks to `to`, and takes the bytes that it reads off the front of *packed.
 * It makes none only if it needs more of them. NOMEM; MALFORMED with the
 * offset.
 */
enum wndl_status wndl_unpacker_some(struct wndl_unpacker *u,
    struct wndl_bytes *packed, struct wndl_unpacked *to,
    struct wndl_error *err) WNDL_MUST_USE;

/* At the end of the input: TRUNCATED within a member or frame. */
enum wndl_status wndl_unpacker_end(
    const struct wndl_unpacker *u, struct wndl_error *err) WNDL_MUST_USE;

#endif
