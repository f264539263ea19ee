/* SPDX-License-Identifier: MIT */
/*
 * shell_word: quotes text as one word of a shell, for commands that are printed
 * to be typed. Must not know the commands.
 */
#ifndef WNDL_CLI_CORE_SHELL_WORD_H
#define WNDL_CLI_CORE_SHELL_WORD_H

#include "base/buf.h"

/* Adds `text`, in quotes if a shell would not take it as it is. */
void wndl_shell_word(struct wndl_buf *command, const char *text);

#endif
