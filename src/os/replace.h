/* SPDX-License-Identifier: MIT */
/*
 * replace: puts a whole file in the place of another one, so that no reader
 * ever sees half of it. If two processes do so at once, the later one's stays.
 */
#ifndef WNDL_OS_REPLACE_H
#define WNDL_OS_REPLACE_H

#include "base/bytes.h"
#include "base/status.h"

/*
 * Writes `bytes` to a new file beside `path`, for its owner only, and renames
 * it. IO; LIMIT if the path is too long. `err` has no file. Any thread.
 */
enum wndl_status wndl_file_replace(const char *path, struct wndl_bytes bytes,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
