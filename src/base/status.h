/* SPDX-License-Identifier: MIT */
/*
 * status: filling in a caller's wndl_error, and turning it into one line.
 * Inside of windlass a wndl_error is zeroed by whoever declares it; what is
 * behind a public header zeroes the one it is given.
 */
#ifndef WNDL_BASE_STATUS_H
#define WNDL_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>
#include <windlass/status.h>

/*
 * Record `status` and a printf-style sentence in `err` (which may be NULL),
 * keeping file, section and offset that were set before. Returns `status`, so
 * that a failing function ends in `return wndl_fail(...)`.
 */
enum wndl_status wndl_fail(struct wndl_error *err, enum wndl_status status,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As wndl_fail, with the errno of the system call that failed. WHAT is "cannot
 * open the file" and the like, maybe with "; advice": see wndl_error_text. */
enum wndl_status wndl_fail_errno(struct wndl_error *err, int sys_errno,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As wndl_fail, for damage at `offset` of `section`. */
enum wndl_status wndl_fail_at(struct wndl_error *err, enum wndl_status status,
    const char *section, uint64_t offset, const char *what);

/* Name the file an error is about. NULL `err` or `path` does nothing. */
void wndl_error_set_file(struct wndl_error *err, const char *path);

/*
 * Writes "FILE: SECTION+0xOFFSET: WHAT" into `text`, without the parts that are
 * not known. With an errno: "cannot open FILE: ERRNO TEXT" if WHAT is "cannot
 * open the file", else "FILE: WHAT: ERRNO TEXT"; advice, after a semicolon in
 * WHAT, comes last. Always NUL-terminated when `size` > 0. Returns `text`.
 */
char *wndl_error_text(const struct wndl_error *err, char *text, size_t size);

#endif
