/* SPDX-License-Identifier: MIT */
/*
 * progress: what a command does, on the terminal at standard error, once that
 * has taken a second: a line that changes, and is removed at the end. Elsewhere
 * nothing. By one thread of the command.
 */
#ifndef WNDL_CLI_CORE_PROGRESS_H
#define WNDL_CLI_CORE_PROGRESS_H

/* Begins a step, or goes on to the next: "reading", and of what, or "". */
void wndl_progress_begin(const char *doing, const char *what);

/* Ends the last step. */
void wndl_progress_end(void);

/*
 * Removes the line before something else is written there: from then on until
 * the next step there is none.
 */
void wndl_progress_hide(void);

#endif
