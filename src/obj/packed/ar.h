/* SPDX-License-Identifier: MIT */
/*
 * ar: members of archives of object files (.a), as BSD, Apple and GNU write
 * them, listed once. Borrows the archive's bytes; any thread may search.
 */
#ifndef WNDL_OBJ_PACKED_AR_H
#define WNDL_OBJ_PACKED_AR_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* A member; several may have the same name. */
struct wndl_ar_member {
    struct wndl_bytes bytes;
    const struct wndl_ar_member *next; /* of the same name, or NULL */
};

/* An archive's members, by name. */
struct wndl_ar;

/*
 * Lists the members of `archive` in `arena`, up to the first damage, which is
 * reported only when a member is not found. UNSUPPORTED if it is no archive or
 * has its members elsewhere (thin); NOMEM.
 */
enum wndl_status wndl_ar_open(struct wndl_bytes archive,
    struct wndl_arena *arena, const struct wndl_ar **out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The first member `name` that was made at `modified`, seconds since 1970, or
 * if there is none, of those without a time. modified 0: any. NOT_FOUND, also
 * if there is one of another time; MALFORMED or TRUNCATED if it may be in the
 * damaged part.
 */
enum wndl_status wndl_ar_find(const struct wndl_ar *ar, struct wndl_bytes name,
    uint64_t modified, const struct wndl_ar_member **member,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
