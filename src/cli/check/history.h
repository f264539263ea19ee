/* SPDX-License-Identifier: MIT */
/* history: counts by kind over time, a line of a text file for each check. */
#ifndef WNDL_CLI_CHECK_HISTORY_H
#define WNDL_CLI_CHECK_HISTORY_H

#include "model/check.h"

/*
 * Adds a line for the list to the file, and shows the last lines on stderr.
 * False, after an error message.
 */
bool wndl_check_history(const char *path, const struct wndl_finding_list *list);

#endif
