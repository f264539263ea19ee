/* SPDX-License-Identifier: MIT */
/* sym_answer: answers to the operands of `windlass sym`, or its input. */
#ifndef WNDL_CLI_SYMBOLS_SYM_ANSWER_H
#define WNDL_CLI_SYMBOLS_SYM_ANSWER_H

#include "cli/symbols/sym_options.h"

/*
 * Writes the answers to the operands; without any, to the lines of standard
 * input as they arrive; or lists all functions. Returns the exit status, with
 * an error on stderr unless it is 0.
 */
int wndl_sym_answer(struct wndl_symbolizer *symbols,
    const struct wndl_sym_options *o, struct wndl_operands operands);

#endif
