/* SPDX-License-Identifier: MIT */
/*
 * symbol_options: what all commands that show names can be told about where
 * those are from.
 */
#ifndef WNDL_CLI_SHARED_SYMBOL_OPTIONS_H
#define WNDL_CLI_SHARED_SYMBOL_OPTIONS_H

#include "cli/core/options.h"

#include <windlass/symbolize.h>

struct wndl_symbol_options {
    struct wndl_option_list debug_dirs;
    bool debuginfod;
    const char *cache; /* folder, or NULL */
    const char *arch;  /* of several in a binary, or NULL */
};

/* Rows of a command's table; `field` of its struct `type` is of the struct
 * above. Those of where debug files are, and all. */
#define WNDL_DEBUG_FILE_OPTION_ROWS(type, field)                               \
    {0, "debug-dir", "DIR", NULL, NULL, NULL,                                  \
        "look for separate debug files here, then in the folders of "          \
        "$WINDLASS_DEBUG_DIRS and in /usr/lib/debug; may be given again",      \
        WNDL_OPT_LIST, offsetof(type, field.debug_dirs)},                      \
    {                                                                          \
        0, "debuginfod", NULL, NULL, NULL, NULL,                               \
            "fetch debug files that are not here from the servers of "         \
            "$DEBUGINFOD_URLS, which may take long and tells them which",      \
            WNDL_OPT_FLAG, offsetof(type, field.debuginfod)                    \
    }

#define WNDL_SYMBOL_OPTION_ROWS(type, field)                                   \
    WNDL_DEBUG_FILE_OPTION_ROWS(type, field),                                  \
    {                                                                          \
        0, "cache", "DIR", NULL, NULL, NULL,                                   \
            "keep what was found out about binaries with a build-id in files " \
            "here, and do not look for it again",                              \
            WNDL_OPT_TEXT, offsetof(type, field.cache)                         \
    }

#define WNDL_ARCH_OPTION_ROW(type, field)                                      \
    {                                                                          \
        0, "arch", "ARCH", NULL, NULL, NULL,                                   \
            "of Mach-O files for several architectures, read this one: "       \
            "x86_64, arm64, ...; without it that of this windlass, else the "  \
            "only one",                                                        \
            WNDL_OPT_TEXT, offsetof(type, field.arch)                          \
    }

#define WNDL_LIST_ARCHES_OPTION_ROW(type, field)                               \
    {                                                                          \
        0, "list-arches", NULL, NULL, NULL, NULL,                              \
            "show instead which architectures OBJ is for", WNDL_OPT_FLAG,      \
            offsetof(type, field)                                              \
    }

/*
 * What --cache says, into *cache; NULL when it was not given. What `options`
 * has is borrowed; trouble with the files is told on stderr.
 */
const struct wndl_symbolizer_cache *wndl_symbol_cache(
    const struct wndl_symbol_options *options,
    struct wndl_symbolizer_cache *cache);

#endif
