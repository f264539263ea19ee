/* SPDX-License-Identifier: MIT */
/*
 * debuginfod: debug files from the servers of $DEBUGINFOD_URLS, by the
 * library of that name, which is loaded when it is first needed. Only asked
 * when the caller said so: it tells a server what is being looked at.
 */
#ifndef WNDL_SYMBOLIZE_FILES_DEBUGINFOD_H
#define WNDL_SYMBOLIZE_FILES_DEBUGINFOD_H

#include "base/bytes.h"
#include "base/status.h"

#include <stddef.h>

/*
 * The debug file of that build-id, in the library's cache: its path in
 * `path`. Waits for the server as long as $DEBUGINFOD_TIMEOUT says (90 s).
 * NOT_FOUND: no server has it. UNSUPPORTED: no library. IO: no server is
 * set, or none answers. LIMIT: the path does not fit. Any thread.
 */
enum wndl_status wndl_debuginfod_fetch(struct wndl_bytes build_id, char *path,
    size_t size, struct wndl_error *err) WNDL_MUST_USE;

#endif
