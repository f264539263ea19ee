/* SPDX-License-Identifier: MIT */
/*
 * unwind_tables: the unwind tables that are attached to a binary by its name,
 * or that $WINDLASS_UNWIND_TABLES leads to.
 */
#ifndef WNDL_COLLECT_CODE_UNWIND_TABLES_H
#define WNDL_COLLECT_CODE_UNWIND_TABLES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "obj/core/object.h"

/* A binary's table. Bytes empty: there is none. */
struct wndl_unwind_table {
    struct wndl_bytes bytes;
    /* Of Chromium's unwind info v2: svma and size of .text; size 0: ours. */
    uint64_t text, text_size;
};

/*
 * A copy of the binary's table, in the arena: the first of `tables`
 * (unwind/table/named.h) that is attached to `path`, to which no link leads,
 * and is its own; else what the folders have by its build-id. One of ours has
 * to be whole and, by machine and build-id, its own; of 32-bit Arm, Chromium's,
 * which says neither, will do too. Reads section headers of `object`.
 */
struct wndl_unwind_table wndl_unwind_table_copy(struct wndl_arena *arena,
    struct wndl_object *object, const char *path, const char *tables);

/*
 * Whether the table in `file` would be taken for `object`; if that is NULL,
 * for any binary. When not, `err` says of `file` why.
 */
enum wndl_status wndl_unwind_table_check(const char *file,
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Tells of each file that is in the folders under the name of the binary's
 * table, before one that is taken, and is not: `err` says of the file why. It
 * lives until `refused` returns.
 */
void wndl_unwind_tables_refused(struct wndl_object *object,
    void (*refused)(void *context, const struct wndl_error *err),
    void *context);

#endif
