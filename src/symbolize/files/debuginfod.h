/* SPDX-License-Identifier: MIT */
/*
 * debuginfod: debug files from the servers of $DEBUGINFOD_URLS, by the library
 * of that name, which is loaded when it is first needed. It is used only if the
 * caller asks for it, since it reveals build-ids to a server.
 */
#ifndef WNDL_SYMBOLIZE_FILES_DEBUGINFOD_H
#define WNDL_SYMBOLIZE_FILES_DEBUGINFOD_H

#include "base/bytes.h"
#include "base/status.h"

#include <stddef.h>

/*
 * The path, in the library's cache, of the debug file of that build-id. Waits
 * for the server for up to $DEBUGINFOD_TIMEOUT (90 s). NOT_FOUND: no server has
 * it. UNSUPPORTED: no library. IO: no server is set, or none answers. LIMIT:
 * the path does not fit `size`. Any thread.
 */
enum wndl_status wndl_debuginfod_fetch(struct wndl_bytes build_id, char *path,
    size_t size, struct wndl_error *err) WNDL_MUST_USE;

/* The same for the binary itself. */
enum wndl_status wndl_debuginfod_fetch_binary(struct wndl_bytes build_id,
    char *path, size_t size, struct wndl_error *err) WNDL_MUST_USE;

#endif
