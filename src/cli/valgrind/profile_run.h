/* SPDX-License-Identifier: MIT */
/* profile_run: a command under one of our tools, and the results of it. */
#ifndef WNDL_CLI_VALGRIND_PROFILE_RUN_H
#define WNDL_CLI_VALGRIND_PROFILE_RUN_H

#include "base/bytes.h"
#include "cli/core/command.h"
#include "cli/valgrind/launch.h"
#include "cli/valgrind/profile_options.h"

/* A run, and what is to be done with its results. All is borrowed. */
struct wndl_profile_run {
    const struct wndl_profile_options *shared;
    const char *tool;                /* "vmprof" */
    bool on_our_malloc;              /* launch.h */
    const char *const *tool_options; /* of the tool alone; ends with NULL */
    bool (*are_results)(const char *path); /* of an earlier run */
    int (*show)(const void *options, const char *path);
    const void *options; /* for `show` */
};

/* Whether the file at `path` can be read and begins as `is` says. */
bool wndl_profile_file_is(const char *path, bool (*is)(struct wndl_bytes file));

/*
 * Runs the command, then shows its results unless `quiet`. The exit code: the
 * command's, unless it hides that there are no results.
 */
int wndl_profile_run(
    const struct wndl_profile_run *run, struct wndl_operands operands);

#endif
