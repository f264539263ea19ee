/* SPDX-License-Identifier: MIT */
/* vm_code: opens the symbols of a file whose code ran. */
#ifndef WNDL_ANALYZE_VM_VM_CODE_H
#define WNDL_ANALYZE_VM_VM_CODE_H

#include "analyze/names/profile_names.h"
#include "model/vm.h"

/*
 * Opens the symbols of the file of `code`. *bias converts an avma of this code
 * to an rva. NULL if the file or its code cannot be read: such code has no
 * names. Ends with wndl_symbolizer_close().
 */
struct wndl_symbolizer *wndl_vm_code_open(const struct wndl_vm_code *code,
    const struct wndl_symbol_sources *sources, struct wndl_mem *mem,
    uint64_t *bias);

#endif
