/* SPDX-License-Identifier: MIT */
/*
 * symbol_options: the options of all commands that show names: where the names
 * come from.
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
        "search DIR for separate debug files, then the folders of "            \
        "$WINDLASS_DEBUG_DIRS and /usr/lib/debug; may be repeated",            \
        WNDL_OPT_LIST, offsetof(type, field.debug_dirs)},                      \
    {                                                                          \
        0, "debuginfod", NULL, NULL, NULL, NULL,                               \
            "fetch missing debug files from the servers of $DEBUGINFOD_URLS; " \
            "slow, and reveals the build-ids to those servers",                \
            WNDL_OPT_FLAG, offsetof(type, field.debuginfod)                    \
    }

#define WNDL_SYMBOL_OPTION_ROWS(type, field)                                   \
    WNDL_DEBUG_FILE_OPTION_ROWS(type, field),                                  \
    {                                                                          \
        0, "cache", "DIR", NULL, NULL, NULL,                                   \
            "cache the symbols of binaries with a build-id in files in DIR",   \
            WNDL_OPT_TEXT, offsetof(type, field.cache)                         \
    }

#define WNDL_ARCH_OPTION_ROW(type, field)                                      \
    {                                                                          \
        0, "arch", "ARCH", NULL, NULL, NULL,                                   \
            "of a Mach-O file for several architectures, read this one: "      \
            "x86_64, arm64, ... (default: this machine's, or the only one "    \
            "present)",                                                        \
            WNDL_OPT_TEXT, offsetof(type, field.arch)                          \
    }

#define WNDL_LIST_ARCHES_OPTION_ROW(type, field)                               \
    {                                                                          \
        0, "list-arches", NULL, NULL, NULL, NULL,                              \
            "list the architectures in OBJ instead", WNDL_OPT_FLAG,            \
            offsetof(type, field)                                              \
    }

/* Whether servers are to be asked for debug files. Says on stderr, once, if
 * --debuginfod is given and none is named. */
bool wndl_asks_debuginfod(const struct wndl_symbol_options *options);

/*
 * The cache of --cache, in *cache; NULL if the option is not given. Borrows the
 * texts of `options`; errors with the files are reported on stderr.
 */
const struct wndl_symbolizer_cache *wndl_symbol_cache(
    const struct wndl_symbol_options *options,
    struct wndl_symbolizer_cache *cache);

#endif
