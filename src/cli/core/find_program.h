/* SPDX-License-Identifier: MIT */
/*
 * program: finds the file of a command.
 */
#ifndef WNDL_CLI_CORE_FIND_PROGRAM_H
#define WNDL_CLI_CORE_FIND_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* The path that execvp() would run. False if there is none. */
bool wndl_program_find(const char *command, char path[PATH_MAX]);

/*
 * The interpreter that the first line of a script names after "#!". False if
 * the file is no script, with errno 0; or if it cannot be opened.
 */
bool wndl_program_interpreter(const char *path, char interpreter[PATH_MAX]);

#endif
