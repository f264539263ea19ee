/* SPDX-License-Identifier: MIT */
/*
 * markup: standard input to standard output, with the elements of LLVM's
 * symbolizer markup written as llvm-symbolizer --filter-markup writes them.
 */
#ifndef WNDL_CLI_ADDR2LINE_MARKUP_H
#define WNDL_CLI_ADDR2LINE_MARKUP_H

#include "cli/addr2line/modules.h"

#include <stdbool.h>

/* Returns the exit status. */
int wndl_filter_markup(struct wndl_modules *modules, bool demangle);

#endif
