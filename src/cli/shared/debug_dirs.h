/* SPDX-License-Identifier: MIT */
/*
 * debug_dirs: the folders that are searched for separate debug files.
 */
#ifndef WNDL_CLI_SHARED_DEBUG_DIRS_H
#define WNDL_CLI_SHARED_DEBUG_DIRS_H

#include "cli/core/options.h"

#define WNDL_DEBUG_DIRS_ENV "WINDLASS_DEBUG_DIRS"

enum { WNDL_DEBUG_DIRS_FROM_ENV = 16 };

struct wndl_debug_dirs {
    /* Ends with NULL; as windlass/symbolize.h wants it. */
    const char *list[WNDL_OPTION_LIST_MAX + WNDL_DEBUG_DIRS_FROM_ENV + 2];
    size_t count;
    char text[4096];
};

/*
 * Lists the folders of `given` (NULL: none), then those of
 * $WINDLASS_DEBUG_DIRS, separated by colons, then the system's. `given`
 * outlives `dirs`, which is not moved.
 */
void wndl_debug_dirs_init(
    struct wndl_debug_dirs *dirs, const struct wndl_option_list *given);

#endif
