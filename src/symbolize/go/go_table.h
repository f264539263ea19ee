/* SPDX-License-Identifier: MIT */
/*
 * go_table: the functions, lines and inlined calls of a Go program without
 * DWARF, by the table that it has for its own stack traces. The runtime's
 * module data leads to it, and says where code begins.
 *
 * Answers are as in dbg/dwarf/dwarf.h. One thread at a time.
 */
#ifndef WNDL_SYMBOLIZE_GO_GO_TABLE_H
#define WNDL_SYMBOLIZE_GO_GO_TABLE_H

#include "dbg/dwarf/dwarf.h"
#include "obj/core/object.h"

struct wndl_go_table;

/*
 * Finds the table of `binary`, which is borrowed. *out is NULL if there is
 * none; else it ends with wndl_go_table_close. A table that cannot be used is
 * described in `damage`, and counts as none. OK or NOMEM.
 */
enum wndl_status wndl_go_table_open(struct wndl_object *binary,
    struct wndl_mem *mem, struct wndl_go_table **out,
    struct wndl_error *damage) WNDL_MUST_USE;

/* Closes it. NULL is ignored. */
void wndl_go_table_close(struct wndl_go_table *table);

/* The frames of `addr`, as wndl_dwarf_lookup. */
enum wndl_status wndl_go_table_lookup(struct wndl_go_table *table,
    wndl_svma addr, struct wndl_dwarf_frames *frames) WNDL_MUST_USE;

/* Does what wndl_dwarf_visit_functions() does. */
enum wndl_status wndl_go_table_visit_functions(struct wndl_go_table *table,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context) WNDL_MUST_USE;

/* Does what wndl_dwarf_changes() does. */
enum wndl_status wndl_go_table_changes(struct wndl_go_table *table,
    struct wndl_dwarf_range range, struct wndl_vec *places) WNDL_MUST_USE;

/* The first damage so far; NULL if there is none. Lives as long as `table`. */
const struct wndl_error *wndl_go_table_damage(
    const struct wndl_go_table *table);

#endif
