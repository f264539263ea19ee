/* SPDX-License-Identifier: MIT */
/*
 * program: which file a command's name stands for.
 */
#ifndef WNDL_CLI_CORE_FIND_PROGRAM_H
#define WNDL_CLI_CORE_FIND_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* Its path, as execvp() goes about it. False when there is none. */
bool wndl_program_find(const char *command, char path[PATH_MAX]);

#endif
