/* SPDX-License-Identifier: MIT */
/* kept_tables: the folder of unwind tables made from code. */
#ifndef WNDL_CLI_SHARED_KEPT_TABLES_H
#define WNDL_CLI_SHARED_KEPT_TABLES_H

#include <limits.h>

#define WNDL_KEPT_TABLES_ENV "WINDLASS_TABLE_CACHE"

/*
 * $WINDLASS_TABLE_CACHE, or windlass/unwind in the user's folder for caches.
 * NULL if the variable is empty, or if the home is another user's.
 */
const char *wndl_kept_tables_folder(char folder[PATH_MAX]);

#endif
