/* SPDX-License-Identifier: MIT */
/*
 * put_aside: makes room for a new recording where there is an earlier one,
 * which is kept.
 */
#ifndef WNDL_WNDL_PUT_ASIDE_H
#define WNDL_WNDL_PUT_ASIDE_H

#include "base/status.h"

#include <stdbool.h>

/* The ending that the earlier file's name then has. */
#define WNDL_PUT_ASIDE_SUFFIX ".old"

/*
 * Whether a regular file begins as a recording does, of any version, whole or
 * not. False, with errno, also if it cannot be opened; else errno is 0 then.
 */
bool wndl_recording_is_at(const char *path);

/*
 * Renames the file at `path` to "PATH.old", replacing an earlier one of that
 * name, if `is_ours` is true of both of them and no recorder writes to them
 * (wndl_put_aside_hold). An empty file is removed instead. OK if nothing is at
 * `path`. *moved says whether something was renamed. IO, with the file in
 * `err`, if the file is there and stays.
 */
enum wndl_status wndl_put_aside(const char *path, bool (*is_ours)(const char *),
    bool *moved, struct wndl_error *err) WNDL_MUST_USE;

/* Marks an open file as being written, for as long as `fd` is open here or in a
 * child. */
void wndl_put_aside_hold(int fd);

/* Gives a file that was put aside its name again, if no new one has it. */
void wndl_put_back(const char *path);

#endif
