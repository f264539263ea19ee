/* SPDX-License-Identifier: MIT */
/* report: the list of a session, compared, shown and written. */
#ifndef WNDL_CLI_CHECK_REPORT_H
#define WNDL_CLI_CHECK_REPORT_H

#include "cli/check/session.h"

/* The exit code for errors that are new. */
enum { WNDL_CHECK_EXIT_ERRORS = 3 };

struct wndl_check_report {
    const struct wndl_check_options *options;
    struct wndl_arena arena;
    struct wndl_finding_list list;
};

/*
 * Reads the baseline, so that a mistake in its name costs no run. False, after
 * an error message. Ends with wndl_check_report_close, even after a failure.
 */
bool wndl_check_report_open(
    struct wndl_check_report *report, const struct wndl_check_options *options);
void wndl_check_report_close(struct wndl_check_report *report);

/* Shows and writes the list. Returns the exit code. */
int wndl_check_report(
    struct wndl_check_report *report, struct wndl_check_session *session);

#endif
