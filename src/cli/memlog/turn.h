/* SPDX-License-Identifier: MIT */
/* turn: turns the memory event logs of running processes on and off. */
#ifndef WNDL_CLI_MEMLOG_TURN_H
#define WNDL_CLI_MEMLOG_TURN_H

#include "cli/core/options.h"

/* The operands after the first are process ids. Returns the exit code. */
int wndl_turn(struct wndl_operands operands, bool is_on);

#endif
