/* SPDX-License-Identifier: MIT */
/*
 * completion: writes completions for shells from the tables of the commands:
 * commands, options, their values, recordings, processes, and for a command to
 * record that command's own.
 */
#ifndef WNDL_CLI_CORE_COMPLETION_H
#define WNDL_CLI_CORE_COMPLETION_H

#include "cli/core/command.h"

#include <stdio.h>

/* `commands` ends with NULL. */
void wndl_completion_bash(
    FILE *out, const struct wndl_command *const *commands);
void wndl_completion_zsh(FILE *out, const struct wndl_command *const *commands);
void wndl_completion_fish(
    FILE *out, const struct wndl_command *const *commands);

/* ---- private to the files of completion */

/* The kind of a value or an operand. */
enum wndl_completed {
    WNDL_COMPLETED_NONE,
    WNDL_COMPLETED_FILES,
    WNDL_COMPLETED_FOLDERS,
    WNDL_COMPLETED_RECORDINGS,
    WNDL_COMPLETED_PIDS,
    WNDL_COMPLETED_PROGRAMS,
};

enum wndl_completed wndl_completed_value(const struct wndl_option *option);
enum wndl_completed wndl_completed_operand(const struct wndl_command *command);

/* The first row from `row` on that help shows; the table's end if none. */
const struct wndl_option *wndl_option_shown(const struct wndl_option *row);

/* Writes the choices with `separator` between them, without older words. */
void wndl_completion_choices(FILE *out, const char *choices, char separator);

#endif
