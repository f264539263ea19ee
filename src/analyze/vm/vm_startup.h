/* SPDX-License-Identifier: MIT */
/*
 * vm_startup: the code that runs at a program's start, for a linker to place
 * together.
 */
#ifndef WNDL_ANALYZE_VM_VM_STARTUP_H
#define WNDL_ANALYZE_VM_VM_STARTUP_H

#include "analyze/names/profile_names.h"
#include "model/vm.h"

/*
 * Fills `startup`, which ends with wndl_vm_startup_free(), even after a
 * failure. NOMEM.
 */
enum wndl_status wndl_vm_startup_find(struct wndl_vm_startup *startup,
    const struct wndl_vm *vm, const struct wndl_symbol_sources *sources,
    struct wndl_mem *mem) WNDL_MUST_USE;
void wndl_vm_startup_free(struct wndl_vm_startup *startup);

/*
 * The program's own file: the one that the first word of `command` names, else
 * the one of most functions. NULL: no code ran at the start.
 */
const struct wndl_vm_startup_file *wndl_vm_startup_own(
    const struct wndl_vm_startup *startup, const char *command);

#endif
