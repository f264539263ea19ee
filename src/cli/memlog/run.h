/* SPDX-License-Identifier: MIT */
/* run: a command whose calls for memory are logged. */
#ifndef WNDL_CLI_MEMLOG_RUN_H
#define WNDL_CLI_MEMLOG_RUN_H

#include "cli/core/options.h"
#include "cli/memlog/watch.h"

/*
 * Runs the command, which ends with NULL, and watches it and its children.
 * Returns its exit code, or one of its own (collect/loop/collector.h).
 */
int wndl_memlog_run(char **command, struct wndl_watch_request *request);

/* Says which variables let a session's programs log. Returns the exit code. */
int wndl_memlog_enable(void);

#endif
