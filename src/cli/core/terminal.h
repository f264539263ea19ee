/* SPDX-License-Identifier: MIT */
/*
 * terminal: whether somebody is looking at stdout, and how wide the screen
 * is; and the pager.
 */
#ifndef WNDL_CLI_CORE_TERMINAL_H
#define WNDL_CLI_CORE_TERMINAL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>

/* Columns of the terminal at stdout; 0 when it is none. */
unsigned wndl_terminal_width(void);

/* Whether the locale's characters are UTF-8. */
bool wndl_terminal_utf8(void);

/*
 * Where to write what may be long: to $PAGER (less when not set) if `wanted`
 * and stdout is a terminal, else to stdout. Ends with wndl_pager_close.
 */
FILE *wndl_pager_open(bool wanted);

/* False when something could not be written. */
bool wndl_pager_close(FILE *out);

/* All of `text` through these two; says what goes wrong. The exit code. */
int wndl_pager_show(const struct wndl_buf *text, bool wanted);

#endif
