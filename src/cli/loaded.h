/* SPDX-License-Identifier: MIT */
/*
 * loaded: a recording in memory with names for its frames, as report and
 * export begin with.
 */
#ifndef WNDL_CLI_LOADED_H
#define WNDL_CLI_LOADED_H

#include "cli/options.h"
#include "model/symbolized.h"

struct wndl_loaded {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized;
};

/*
 * Reads the recording at `path` and looks up its symbols, in `debug_dirs`
 * before the system's; if `verbose`, says on stderr where they are from. On
 * failure says why on stderr and returns false; else `loaded`, which stays
 * where it is, ends with wndl_unload.
 */
bool wndl_load(struct wndl_loaded *loaded, const char *path,
    const struct wndl_option_list *debug_dirs, bool verbose);
void wndl_unload(struct wndl_loaded *loaded);

#endif
