/* SPDX-License-Identifier: MIT */
/* table_verify: compares an unwind table of either format with its binary. */
#ifndef WNDL_CLI_UNWIND_TABLE_VERIFY_H
#define WNDL_CLI_UNWIND_TABLE_VERIFY_H

#include "os/file.h"
#include "unwind_tables/table/table.h"

/* The operations on tables of one format. */
struct wndl_checked_table {
    void *table; /* of the format's own type */
    bool (*open)(struct wndl_file *file, void *table, const char *path,
        struct wndl_error *err);
    enum wndl_status (*verify)(const void *table, struct wndl_object *object,
        struct wndl_table_verdict *verdict, struct wndl_error *err);
    bool owns_damage; /* damage that `verify` finds is in the table */
    bool from_code;   /* the table has rules from code, too */
};

/* Says whether the table in `path` is right. The exit code. */
int wndl_unwind_table_verify(const struct wndl_checked_table *checked,
    const char *binary_path, const char *path);

#endif
