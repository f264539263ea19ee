/* SPDX-License-Identifier: MIT */
/* vm_show: shows the results of the VM profiler, or writes them to files. */
#ifndef WNDL_CLI_VALGRIND_VM_SHOW_H
#define WNDL_CLI_VALGRIND_VM_SHOW_H

#include "cli/valgrind/vm_options.h"

/*
 * Shows the results in the file `path`: writes the files that the options ask
 * for, else prints the report, after a run to stderr. The exit code.
 */
int wndl_vm_show(const struct wndl_vmprof_options *o, const char *path);

#endif
