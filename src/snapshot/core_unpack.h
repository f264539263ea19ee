/* SPDX-License-Identifier: MIT */
/*
 * core_unpack: core files that are compressed as a whole, as systemd-coredump
 * leaves them: gzip, zstd, LZ4 frames and xz.
 *
 * The contents go to a temporary file without a name, in $TMPDIR, /var/tmp or
 * /tmp. Its pages of zeros take no place, and it has no more bytes than the
 * core's program headers say.
 */
#ifndef WNDL_SNAPSHOT_CORE_UNPACK_H
#define WNDL_SNAPSHOT_CORE_UNPACK_H

#include "os/file.h"

/* Opens such a temporary file. IO. */
enum wndl_status wndl_core_temporary(
    int *fd, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Replaces the bytes of a compressed core by its contents. Other files stay as
 * they are. If the compressed data is damaged or ends early, the contents up to
 * there count, and *damage says so, if it has nothing yet. UNSUPPORTED: not the
 * contents of a core; IO, NOMEM; TRUNCATED and MALFORMED if nothing was
 * unpacked.
 */
enum wndl_status wndl_core_unpack(struct wndl_file *file,
    struct wndl_error *damage, struct wndl_error *err) WNDL_MUST_USE;

#endif
