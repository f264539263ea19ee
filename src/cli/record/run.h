/* SPDX-License-Identifier: MIT */
/*
 * record_run: recording a command from its start to the summary, for the
 * commands that do so.
 */
#ifndef WNDL_CLI_RECORD_RUN_H
#define WNDL_CLI_RECORD_RUN_H

#include "cli/record/options.h"

/* Returns the exit code. `command` is ours, for messages. */
int wndl_record_run(const struct wndl_record_options *options,
    struct wndl_operands operands, const char *command);

#endif
