/* SPDX-License-Identifier: MIT */
/*
 * launch: finds Valgrind, and runs a program under one of its tools. Ours are
 * programs of their own, linked with the Valgrind that they were built for.
 */
#ifndef WNDL_CLI_VALGRIND_LAUNCH_H
#define WNDL_CLI_VALGRIND_LAUNCH_H

#include "cli/core/options.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Which tools a run is for. */
enum wndl_valgrind_tools {
    WNDL_VALGRIND_OURS,        /* of this build, for its version of Valgrind */
    WNDL_VALGRIND_OURS_MALLOC, /* the same, on Valgrind's allocator */
    WNDL_VALGRIND_ITS_OWN,     /* memcheck, helgrind, ..., of any version */
};

/* A run: each text is a whole option, between "valgrind" and the command. */
struct wndl_valgrind_run {
    const char *tool; /* "vmprof" */
    enum wndl_valgrind_tools tools;
    const char *const *tool_options;        /* ends with NULL */
    const struct wndl_option_list *options; /* the user's, for Valgrind */
    char **command;                         /* ends with NULL */
};

/* Finds `valgrind` in $PATH. False after an error message. */
bool wndl_valgrind_find(char path[PATH_MAX]);

/*
 * Runs the command and waits for its end, while our own terminal signals go to
 * it alone. Returns its exit status, 128 and the signal's number for a signal;
 * or, after an error message, WNDL_EXIT_START where Valgrind or the tool is
 * missing or of different versions. `pid` is of the command, -1 where none was
 * started.
 */
int wndl_valgrind_run(const struct wndl_valgrind_run *run, pid_t *pid);

#endif
