/* SPDX-License-Identifier: MIT */
/*
 * session: the runs of a command under a checker, and what they reported.
 */
#ifndef WNDL_CLI_CHECK_SESSION_H
#define WNDL_CLI_CHECK_SESSION_H

#include "cli/check/examine.h"
#include "cli/check/options.h"
#include "model/check.h"

#include <limits.h>
#include <sys/types.h>

enum wndl_check_tool { WNDL_MEMCHECK, WNDL_HELGRIND, WNDL_DRD };

/* "memcheck" */
const char *wndl_check_tool_name(enum wndl_check_tool tool);

struct wndl_check_session {
    const struct wndl_check_options *options;
    enum wndl_check_tool tool;
    char **command; /* ends with NULL */
    struct wndl_check_program program;
    struct wndl_check check;
    struct wndl_arena arena;
    struct wndl_vec notes; /* const char * */
    char valgrind[PATH_MAX];
    char suppressions[PATH_MAX]; /* our file; "" if it is not there */
    char folder[PATH_MAX];       /* of the checker's files */
    uint32_t runs;               /* that were made */
    int exit_code;               /* of the command: the first that is not 0 */
    bool is_ended;               /* by a signal to us */
    bool has_refused;            /* Valgrind has not run a program */
};

/*
 * Runs the command and reads what the checker found. False, after an error
 * message, if nothing could be run: `exit_code` says how to exit. Ends with
 * wndl_check_session_close, even after a failure.
 */
bool wndl_check_session_run(struct wndl_check_session *session,
    const struct wndl_check_options *options, enum wndl_check_tool tool,
    char **command);
void wndl_check_session_close(struct wndl_check_session *session);

#endif
