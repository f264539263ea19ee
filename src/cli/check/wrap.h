/* SPDX-License-Identifier: MIT */
/*
 * wrap: runs a command as it is, and the programs that it starts, if they match
 * a pattern, under Valgrind. It follows them by ptrace(2).
 */
#ifndef WNDL_CLI_CHECK_WRAP_H
#define WNDL_CLI_CHECK_WRAP_H

#include "cli/check/line.h"

#include <signal.h>

/*
 * For a process of its own, which traces: runs `command`, whose terminal
 * signals are `old`. Returns its exit code. Programs that outlive it run on.
 */
int wndl_check_wrap(struct wndl_check_session *session,
    const struct wndl_check_part *part, char **command,
    const struct sigaction old[2]);

#endif
