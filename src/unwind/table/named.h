/* SPDX-License-Identifier: MIT */
/*
 * named: unwind tables that are attached to modules by name: the list of
 * them as text, as it is handed on to recorded processes, and which module a
 * name means. Signal-safe.
 *
 * The list has for each table "MODULE", NUL, "FILE", NUL, and ends with an
 * empty MODULE. Who takes it from others ends it with three NULs: then whatever
 * is before them, nothing behind them is read.
 */
#ifndef WNDL_UNWIND_TABLE_NAMED_H
#define WNDL_UNWIND_TABLE_NAMED_H

#include <stdbool.h>
#include <string.h>

/* Borrows from the list. */
struct wndl_table_named {
    const char *module; /* a file's whole path, or its last part alone */
    const char *file;
};

/* The entry at *at, which is then at the next one. False behind the last. */
static inline bool wndl_table_named_next(
    const char **at, struct wndl_table_named *named)
{
    if (**at == '\0')
        return false;
    named->module = *at;
    named->file = named->module + strlen(named->module) + 1;
    *at = named->file + strlen(named->file) + 1;
    return true;
}

/* Whether `module` means the file of that path, to which no link leads. */
static inline bool wndl_table_names(const char *module, const char *path)
{
    const char *last = path;
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == '/')
            last = c + 1;
    }
    return strcmp(module, path) == 0 || strcmp(module, last) == 0;
}

#endif
