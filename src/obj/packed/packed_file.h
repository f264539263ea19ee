/* SPDX-License-Identifier: MIT */
/*
 * packed_file: files that are compressed as a whole, as distributions ship
 * kernel modules (.ko.xz, .ko.zst). It must not know what is in them.
 */
#ifndef WNDL_OBJ_PACKED_PACKED_FILE_H
#define WNDL_OBJ_PACKED_PACKED_FILE_H

#include "base/status.h"
#include "os/file.h"

/*
 * If `file` is an .xz file or zstd frames, by its first bytes, replaces its
 * bytes by the unpacked ones, which are all in memory. Other files stay
 * unchanged, with OK. MALFORMED and TRUNCATED, with the offset in the packed
 * file, UNSUPPORTED (unknown xz filters), LIMIT (not plausible, or more than 4
 * GiB), NOMEM, IO; `file` is closed after a failure. Any thread. (The .xz File
 * Format 1.2.0; RFC 8878)
 */
enum wndl_status wndl_packed_file_unpack(
    struct wndl_file *file, struct wndl_error *err) WNDL_MUST_USE;

#endif
