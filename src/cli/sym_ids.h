/* SPDX-License-Identifier: MIT */
/* sym_ids: by what names a build of a binary goes. */
#ifndef WNDL_CLI_SYM_IDS_H
#define WNDL_CLI_SYM_IDS_H

/* Prints those of the binary or Breakpad symbol file at `path` on stdout.
 * Returns the exit code; what is wrong is told on stderr. */
int wndl_sym_print_ids(const char *path);

#endif
