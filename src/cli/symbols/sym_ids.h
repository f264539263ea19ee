/* SPDX-License-Identifier: MIT */
/* sym_ids: prints the ids of builds of binaries. */
#ifndef WNDL_CLI_SYMBOLS_SYM_IDS_H
#define WNDL_CLI_SYMBOLS_SYM_IDS_H

#include <stdbool.h>

/* Prints the ids of the binary or Breakpad symbol file at `path` on stdout; if
 * the file holds several, those of `arch`, or of all (NULL). Reports errors on
 * stderr and returns the exit code. */
int wndl_sym_print_ids(const char *path, const char *arch);

/* Prints the architectures of the Mach-O binary at `path`, after "PATH: " if
 * `of_several` binaries are asked for. Returns the exit code. */
int wndl_sym_print_arches(const char *path, bool of_several);

#endif
