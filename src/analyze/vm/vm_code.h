/* SPDX-License-Identifier: MIT */
/* vm_code: a file whose code ran, open for names. */
#ifndef WNDL_ANALYZE_VM_VM_CODE_H
#define WNDL_ANALYZE_VM_VM_CODE_H

#include "analyze/names/profile_names.h"
#include "model/vm.h"

#include <stdbool.h>

/* The numbers to add to an avma of some code for addresses of its file. */
struct wndl_vm_code_place {
    uint64_t to_rva;
    uint64_t to_svma; /* its negative is the load bias */
};

/* False if the file cannot be read or has no such code. */
bool wndl_vm_code_place(const struct wndl_vm_code *code, struct wndl_mem *mem,
    struct wndl_vm_code_place *place);

/*
 * Opens the symbols of the file of `code`. NULL where the file cannot be read:
 * such code has no names. Ends with wndl_symbolizer_close().
 */
struct wndl_symbolizer *wndl_vm_code_open(const struct wndl_vm_code *code,
    const struct wndl_symbol_sources *sources, struct wndl_mem *mem);

#endif
