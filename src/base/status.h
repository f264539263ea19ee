/* SPDX-License-Identifier: MIT */
/*
 * status: fills in a caller's wndl_error, and formats it as one line. In
 * windlass whoever declares a wndl_error zeroes it; functions of public headers
 * zero the one they are given.
 */
#ifndef WNDL_BASE_STATUS_H
#define WNDL_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/status.h>

/*
 * Records `status` and a printf-style sentence in `err`, which may be NULL.
 * File, section and offset stay as they are. Returns `status`, so that a
 * failing function ends in `return wndl_fail(...)`.
 */
enum wndl_status wndl_fail(struct wndl_error *err, enum wndl_status status,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, with the errno of the system call that failed. */
enum wndl_status wndl_fail_errno(struct wndl_error *err, int sys_errno,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, for damage at `offset` of `section`. */
enum wndl_status wndl_fail_at(struct wndl_error *err, enum wndl_status status,
    const char *section, uint64_t offset, const char *what);

/*
 * Whether memory or descriptors were out, or a disk failed: the same input may
 * be read well another time, so output that lacks it is incomplete.
 */
bool wndl_error_is_lack(const struct wndl_error *err);

/* Sets the file that an error is about. NULL `err` or `path` does nothing. */
void wndl_error_set_file(struct wndl_error *err, const char *path);

/*
 * Formats "FILE: SECTION+0xOFFSET: WHAT (errno text)" into `text`, without the
 * parts that are not known. Always NUL-terminated if `size` > 0. Returns
 * `text`.
 */
char *wndl_error_text(const struct wndl_error *err, char *text, size_t size);

#endif
