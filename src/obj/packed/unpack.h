/* SPDX-License-Identifier: MIT */
/*
 * unpack: zlib, zstd and xz data in memory, by their libraries. It must not
 * know sections and files. Any thread; `mem` is used in the calling one.
 */
#ifndef WNDL_OBJ_PACKED_UNPACK_H
#define WNDL_OBJ_PACKED_UNPACK_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

/*
 * `taken` is set on failure: the number of bytes of `packed` before the damage,
 * or before the block that has it.
 */
struct wndl_unpack {
    struct wndl_mem *mem;
    struct wndl_bytes packed;
    uint8_t *out;
    size_t size; /* of the output, which must match exactly */
    uint64_t taken;
};

/* Unpack. MALFORMED for damage or another size, NOMEM. */
enum wndl_status wndl_unpack_zlib(struct wndl_unpack *unpack) WNDL_MUST_USE;
enum wndl_status wndl_unpack_zstd(struct wndl_unpack *unpack) WNDL_MUST_USE;

/*
 * False when the first frame's header (RFC 8878, 3.1.1.1.4) has a size above
 * `size`.
 */
bool wndl_zstd_may_give(struct wndl_bytes packed, uint64_t size);

/*
 * Unpacks a whole .xz file, whose size is not known before, into the empty
 * `out`; the caller frees `out` even after a failure. MALFORMED, UNSUPPORTED
 * (filters that the library lacks), LIMIT (not plausible), NOMEM; *taken as
 * above.
 */
enum wndl_status wndl_unpack_xz(struct wndl_bytes packed, struct wndl_buf *out,
    uint64_t *taken) WNDL_MUST_USE;

/*
 * Whether `packed` bytes may become `size`. A size above 256 MiB that is more
 * than 100 times the stored one counts as a bomb.
 */
bool wndl_unpack_plausible(uint64_t packed, uint64_t size);

#endif
