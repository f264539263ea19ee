/* SPDX-License-Identifier: MIT */
/* vm_diff: `windlass diff` of two results of the VM profiler. */
#ifndef WNDL_CLI_VALGRIND_VM_DIFF_H
#define WNDL_CLI_VALGRIND_VM_DIFF_H

#include "cli/core/input.h"
#include "cli/shared/symbol_options.h"

/* Prints the difference in the smallest memory of `earlier`, which `later` must
 * have, too. `rows`: functions at most; 0: the usual number. The exit code. */
int wndl_vm_diff_inputs(const struct wndl_input *earlier,
    const struct wndl_input *later, const struct wndl_symbol_options *symbols,
    uint64_t rows);

#endif
