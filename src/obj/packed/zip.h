/* SPDX-License-Identifier: MIT */
/*
 * zip: uncompressed members of zip archives, from which Android loads
 * libraries. It must not know what they are.
 */
#ifndef WNDL_OBJ_PACKED_ZIP_H
#define WNDL_OBJ_PACKED_ZIP_H

#include "base/bytes.h"
#include "base/status.h"
#include "os/file.h"

/*
 * The bytes of member `name` of `archive`, borrowed from it. Its local header
 * must match the central directory; its CRC32 is not checked, since that would
 * touch all of it. NOT_FOUND: no such member. UNSUPPORTED: not a zip archive, a
 * member that is compressed or encrypted, several volumes. MALFORMED,
 * TRUNCATED. Any thread. (APPNOTE.TXT 6.3.10, 4.3)
 */
enum wndl_status wndl_zip_find(struct wndl_bytes archive,
    struct wndl_bytes name, struct wndl_bytes *member,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Maps the file `path`, or the archive of "ARCHIVE!/MEMBER" if there is no file
 * of the whole name. `bytes` is the file or the member, and lives until
 * wndl_file_close. A file that is compressed as a whole is unpacked
 * (packed_file.h). Errors of wndl_file_open, wndl_packed_file_unpack and
 * wndl_zip_find, with the path; `file` is then closed. Any thread.
 */
enum wndl_status wndl_zip_open_path(const char *path, struct wndl_file *file,
    struct wndl_bytes *bytes, struct wndl_error *err) WNDL_MUST_USE;

#endif
