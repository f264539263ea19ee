/* SPDX-License-Identifier: MIT */
/* mvp_show: shows the results of the memory value profiler. */
#ifndef WNDL_CLI_VALGRIND_MVP_SHOW_H
#define WNDL_CLI_VALGRIND_MVP_SHOW_H

#include "cli/valgrind/profile_options.h"

/* What `windlass mvp` was asked for. */
struct wndl_mvp_options {
    struct wndl_profile_options shared;
    bool blocks;                   /* follow the blocks of the heap */
    struct wndl_option_list types; /* SITE=TYPE */
};

/* The problem of the types on the command line, or NULL. */
const char *wndl_mvp_types_problem(const struct wndl_mvp_options *o);

/*
 * Shows the results in the file `path`: writes the file that the options ask
 * for, else prints the report, after a run to stderr. The exit code.
 */
int wndl_mvp_show(const struct wndl_mvp_options *o, const char *path);

#endif
