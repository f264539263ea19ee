/* SPDX-License-Identifier: MIT */
/* profile_show: what the reports of our Valgrind tools have in common. */
#ifndef WNDL_CLI_VALGRIND_PROFILE_SHOW_H
#define WNDL_CLI_VALGRIND_PROFILE_SHOW_H

#include "analyze/names/profile_names.h"
#include "base/buf.h"
#include "cli/shared/debug_dirs.h"
#include "cli/valgrind/profile_options.h"
#include "model/callgraph.h"

#include <stdio.h>

/* Where names of code come from. It is not moved. */
struct wndl_profile_sources {
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    struct wndl_symbol_sources sources; /* borrows the two above */
};

/* Fills *s as the options say, which outlive it. */
void wndl_profile_sources_init(
    struct wndl_profile_sources *s, const struct wndl_symbol_options *symbols);

/* Writes a finished graph, for KCachegrind. False when memory is out. */
bool wndl_profile_write_callgrind(
    FILE *out, const struct wndl_callgraph *g, const char *command);

/* A report: appends it to `out`, with so many rows a table if it is no JSON.
 * False when memory is out. */
struct wndl_profile_report {
    bool (*json)(struct wndl_buf *out, const void *view);
    bool (*text)(struct wndl_buf *out, const void *view, size_t rows);
    const void *view;
};

/* Prints the report in the form that the options ask for; after a run, on
 * stderr. The exit code. */
int wndl_profile_print(const struct wndl_profile_options *o,
    const struct wndl_profile_report *report);

#endif
