/* SPDX-License-Identifier: MIT */
/*
 * lz4: LZ4 frames (LZ4 Frame Format 1.6.4, LZ4 Block Format). It must not know
 * what is in them.
 */
#ifndef WNDL_OBJ_PACKED_LZ4_H
#define WNDL_OBJ_PACKED_LZ4_H

#include "base/bytes.h"
#include "base/status.h"

/*
 * Unpacks frames, one after the other. `put` gets the contents piece by piece,
 * until it returns false; they are valid during the call. `context` is its
 * first argument. All checksums are compared. TRUNCATED and MALFORMED, with the
 * offset in `packed`, UNSUPPORTED (dictionaries, other versions), NOMEM.
 */
enum wndl_status wndl_unpack_lz4(struct wndl_bytes packed,
    bool (*put)(void *context, struct wndl_bytes contents), void *context,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
