/* SPDX-License-Identifier: MIT */
/* results: the files that a checker left of a run. */
#ifndef WNDL_CLI_CHECK_RESULTS_H
#define WNDL_CLI_CHECK_RESULTS_H

#include "cli/check/line.h"

/*
 * Adds what the processes of `part` reported to the session, and what Valgrind
 * said to its notes. False, after an error message, if there is nothing of it,
 * because Valgrind did not start.
 */
bool wndl_check_read_results(
    struct wndl_check_session *session, const struct wndl_check_part *part);

/*
 * Whether the errors from the index `first` on have an undefined value whose
 * origin is not known.
 */
bool wndl_check_needs_origins(
    const struct wndl_check_session *session, size_t first);

/* Sets the path of our suppression file, beside this program. */
void wndl_check_find_suppressions(struct wndl_check_session *session);

#endif
