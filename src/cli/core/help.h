/* SPDX-License-Identifier: MIT */
/*
 * help: writes `--help` and the man pages from the tables of the commands.
 */
#ifndef WNDL_CLI_CORE_HELP_H
#define WNDL_CLI_CORE_HELP_H

#include "cli/core/command.h"

#include <stdio.h>

/* The whole `windlass COMMAND --help`. */
void wndl_help_command(FILE *out, const struct wndl_command *command);

/* The options that $WINDLASS_OPTIONS may hold: `rows` is their table. */
void wndl_help_env_options(FILE *out, const struct wndl_option *rows);

/* `windlass --help`, in groups; `commands` ends with NULL. */
void wndl_help_program(FILE *out, const struct wndl_command *const *commands);

/* windlass-COMMAND(1) as man(7) source. */
void wndl_man_command(FILE *out, const struct wndl_command *command);

/* windlass(1). */
void wndl_man_program(FILE *out, const struct wndl_command *const *commands);

#endif
