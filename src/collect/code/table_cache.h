/* SPDX-License-Identifier: MIT */
/*
 * table_cache: tables made from code, kept in a folder of the user for later
 * recordings, a file for each build-id (docs/unwinding.md). Also that there is
 * nothing to make a table of, which is an empty one.
 */
#ifndef WNDL_COLLECT_CODE_TABLE_CACHE_H
#define WNDL_COLLECT_CODE_TABLE_CACHE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

#include <limits.h>

/* A file of the cache. */
struct wndl_kept_table {
    char path[PATH_MAX]; /* "": nothing is kept of this binary */
    uint64_t stamp;      /* what a table depends on besides the build-id */
};

/* The facts that decide about a table. */
struct wndl_kept_facts {
    struct wndl_bytes build_id;
    uint64_t size;        /* of the binary, in bytes */
    bool has_debug_frame; /* its own, or that of its debug file */
};

/* The file for a binary. `folder` may be NULL: nothing is kept. */
void wndl_kept_table_of(struct wndl_kept_table *kept, const char *folder,
    const struct wndl_kept_facts *facts);

/*
 * Reads the kept table into the arena. NOT_FOUND if there is none; DENIED if
 * others could have written it; MALFORMED, UNSUPPORTED, NOMEM, IO.
 */
enum wndl_status wndl_kept_table_read(const struct wndl_kept_table *kept,
    struct wndl_arena *arena, struct wndl_bytes *table,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Keeps a table; makes the folder, and those that contain it, if need be. Does
 * nothing without a path. Any thread.
 */
enum wndl_status wndl_kept_table_write(const struct wndl_kept_table *kept,
    struct wndl_bytes table, struct wndl_error *err) WNDL_MUST_USE;

#endif
