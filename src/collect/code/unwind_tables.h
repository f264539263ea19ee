/* SPDX-License-Identifier: MIT */
/*
 * unwind_tables: the unwind tables of a binary: attached to it by its name, or
 * in the folders of $WINDLASS_UNWIND_TABLES.
 */
#ifndef WNDL_COLLECT_CODE_UNWIND_TABLES_H
#define WNDL_COLLECT_CODE_UNWIND_TABLES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "obj/core/object.h"

/* A binary's table. `bytes` is empty if there is none. */
struct wndl_unwind_table {
    struct wndl_bytes bytes;
    /*
     * For Chromium's unwind info v2, the svma and size of .text. A size of 0
     * says that the table is in our format.
     */
    uint64_t text, text_size;
};

/*
 * A copy of the binary's table, in the arena: the first of `tables`
 * (unwind/table/named.h) that is attached to `path`, which has no links in it,
 * and that belongs to the binary; else the table in the folders by its
 * build-id. A table in our format must be whole and match by machine and
 * build-id. For 32-bit Arm, Chromium's format, which has neither, is accepted
 * too. Reads section headers of `object`.
 */
struct wndl_unwind_table wndl_unwind_table_copy(struct wndl_arena *arena,
    struct wndl_object *object, const char *path, const char *tables);

/*
 * Whether the table in `file` would be used for `object`, or for any binary if
 * that is NULL. If not, `err` says why.
 */
enum wndl_status wndl_unwind_table_check(const char *file,
    struct wndl_object *object, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Calls `refused` for each file in the folders that has the name of the
 * binary's table, comes before the one that is used, and is not used itself.
 * `err` says why and is valid until `refused` returns.
 */
void wndl_unwind_tables_refused(struct wndl_object *object,
    void (*refused)(void *context, const struct wndl_error *err),
    void *context);

#endif
