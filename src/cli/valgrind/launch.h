/* SPDX-License-Identifier: MIT */
/*
 * launch: runs a program under Valgrind with one of our tools. A tool is a
 * program of its own, linked with the Valgrind that it was built for.
 */
#ifndef WNDL_CLI_VALGRIND_LAUNCH_H
#define WNDL_CLI_VALGRIND_LAUNCH_H

#include "base/buf.h"
#include "cli/core/options.h"

#include <stdbool.h>
#include <sys/types.h>

/* A run: each text is a whole option, between "valgrind" and the command. */
struct wndl_valgrind_run {
    const char *tool;     /* "vmprof" */
    bool replaces_malloc; /* the program runs on Valgrind's allocator */
    const char *const *tool_options;        /* ends with NULL */
    const struct wndl_option_list *options; /* the user's, for Valgrind */
    char **command;                         /* ends with NULL */
};

/*
 * Runs the command and waits for its end, while our own terminal signals go to
 * it alone. Returns its exit status, 128 and the signal's number for a signal;
 * or, after an error message, WNDL_EXIT_START where Valgrind or the tool is
 * missing or of different versions. `pid` is of the command, -1 where none was
 * started.
 */
int wndl_valgrind_run(const struct wndl_valgrind_run *run, pid_t *pid);

#endif
