/* SPDX-License-Identifier: MIT */
/* fix_listener: says on stderr what a wndl_fix cannot put into its text. */
#ifndef WNDL_CLI_SHARED_FIX_LISTENER_H
#define WNDL_CLI_SHARED_FIX_LISTENER_H

#include "analyze/fix/fix.h"

extern const struct wndl_fix_listener wndl_cli_fix_listener;

#endif
