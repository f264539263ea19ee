/* SPDX-License-Identifier: MIT */
/* sym_ids: by what names a build of a binary goes. */
#ifndef WNDL_CLI_SYMBOLS_SYM_IDS_H
#define WNDL_CLI_SYMBOLS_SYM_IDS_H

#include <stdbool.h>

/* Prints those of the binary or Breakpad symbol file at `path` on stdout; of
 * several in a file that of `arch`, or of all (NULL). Returns the exit code;
 * what is wrong is told on stderr. */
int wndl_sym_print_ids(const char *path, const char *arch);

/* Prints the architectures that the Mach-O binary at `path` is for; each after
 * "PATH: " if one is of several that are asked for. The same. */
int wndl_sym_print_arches(const char *path, bool of_several);

#endif
