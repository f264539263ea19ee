/* SPDX-License-Identifier: MIT */
/* vm_run: a command under the VM profiler's tool. */
#ifndef WNDL_CLI_VALGRIND_VM_RUN_H
#define WNDL_CLI_VALGRIND_VM_RUN_H

#include "cli/core/command.h"
#include "cli/valgrind/vm_options.h"

/* Runs the command, then shows its results unless `quiet`. Its exit code. */
int wndl_vm_run(
    const struct wndl_vmprof_options *o, struct wndl_operands operands);

#endif
