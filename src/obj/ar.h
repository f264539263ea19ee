/* SPDX-License-Identifier: MIT */
/*
 * ar: members of archives of object files (.a), as BSD, Apple and GNU write
 * them. Borrows the archive's bytes; any thread.
 */
#ifndef WNDL_OBJ_AR_H
#define WNDL_OBJ_AR_H

#include "base/bytes.h"
#include "base/status.h"

/* `modified`: seconds since 1970, or 0 for whenever. Several may be called the
 * same: `nth` counts those from 0. */
struct wndl_ar_wanted {
    struct wndl_bytes name;
    uint64_t modified;
    size_t nth;
};

/*
 * The bytes of a member. NOT_FOUND, also if there is one but of another time;
 * UNSUPPORTED for what is no archive or has its members elsewhere (thin);
 * MALFORMED, TRUNCATED.
 */
enum wndl_status wndl_ar_find(struct wndl_bytes archive,
    const struct wndl_ar_wanted *wanted, struct wndl_bytes *member,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
