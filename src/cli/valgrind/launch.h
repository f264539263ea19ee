/* SPDX-License-Identifier: MIT */
/*
 * launch: finds Valgrind, and runs a program under one of its tools. Ours are
 * programs of their own, linked with the Valgrind that they were built for.
 */
#ifndef WNDL_CLI_VALGRIND_LAUNCH_H
#define WNDL_CLI_VALGRIND_LAUNCH_H

#include "cli/core/options.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The exit code where a command could not be started. */
enum { WNDL_VALGRIND_EXIT_START = 125 };

/* Finds `valgrind` in $PATH. False after an error message. */
bool wndl_valgrind_find(char path[PATH_MAX]);

/* The first line that `valgrind --version` prints, without its end. */
bool wndl_valgrind_version(const char *valgrind, char *text, int size);

/*
 * Whether Valgrind can start a program, by its file `path` alone: false, after
 * an error message, if that has rights of its own or is for another processor.
 * `is_static`: Valgrind cannot replace its malloc.
 */
bool wndl_valgrind_can_run(const char *path, bool *is_static);

/* The exit code for a status of waitpid(): 128 and the number of a signal. */
int wndl_valgrind_exit_code(int status);

/*
 * Ignores what the terminal sends to the command too, which says what it does;
 * and the end of that, in the command before it runs and in us after it.
 */
void wndl_valgrind_ignore_terminal(struct sigaction old[2]);
void wndl_valgrind_restore_terminal(const struct sigaction old[2]);

/* A run: each text is a whole option, between "valgrind" and the command. */
struct wndl_valgrind_run {
    const char *tool;   /* "vmprof" */
    bool on_our_malloc; /* the tool replaces the program's malloc */
    const char *const *tool_options;        /* ends with NULL */
    const struct wndl_option_list *options; /* the user's, for Valgrind */
    char **command;                         /* ends with NULL */
};

/*
 * Runs the command and waits for its end, while our own terminal signals go to
 * it alone. Returns its exit status, 128 and the signal's number for a signal;
 * or, after an error message, WNDL_VALGRIND_EXIT_START where Valgrind or the
 * tool is missing or of different versions, or Valgrind cannot start the
 * program. `pid` is of the command, -1 where none was started.
 */
int wndl_valgrind_run(const struct wndl_valgrind_run *run, pid_t *pid);

#endif
