/* SPDX-License-Identifier: MIT */
/*
 * named: unwind tables that are attached to modules by name. It has the list of
 * them as text, which recorded processes get, and matches a name with a module.
 * Signal-safe.
 *
 * The list has for each table "MODULE", NUL, "FILE", NUL, and ends with an
 * empty MODULE. Whoever gets it from others appends three NULs: then nothing
 * after them is read, whatever the list contains.
 */
#ifndef WNDL_UNWIND_TABLE_NAMED_H
#define WNDL_UNWIND_TABLE_NAMED_H

#include <stdbool.h>
#include <string.h>

/* An entry, which borrows from the list. */
struct wndl_table_named {
    const char *module; /* a file's whole path, or only its last part */
    const char *file;
};

/* Reads the entry at *at, and moves that to the next. False after the last. */
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

/* Whether `module` means the file `path`, which has no links in it. */
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
