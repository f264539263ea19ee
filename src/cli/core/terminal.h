/* SPDX-License-Identifier: MIT */
/*
 * terminal: whether stdout is a terminal, and how wide it is; and the pager.
 */
#ifndef WNDL_CLI_CORE_TERMINAL_H
#define WNDL_CLI_CORE_TERMINAL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>

/* Columns of the terminal at stdout; 0 if stdout is none. */
unsigned wndl_terminal_width(void);

/*
 * Columns of the terminal at stderr; 0 if it is none, or one that cannot show a
 * line that changes.
 */
unsigned wndl_terminal_error_width(void);

/* Whether the locale's characters are UTF-8. */
bool wndl_terminal_utf8(void);

/*
 * Opens the output for a long text: $PAGER (less if not set) if `wanted` and
 * stdout is a terminal, else stdout. Ends with wndl_pager_close.
 */
FILE *wndl_pager_open(bool wanted);

/* False when something could not be written. */
bool wndl_pager_close(FILE *out);

/* Writes `text` through these two. Reports errors and returns the exit code. */
int wndl_pager_show(const struct wndl_buf *text, bool wanted);

#endif
