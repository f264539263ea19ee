/* SPDX-License-Identifier: MIT */
/*
 * order: lists for linkers that place functions in the order of their first
 * execution.
 */
#ifndef WNDL_OUT_VM_ORDER_H
#define WNDL_OUT_VM_ORDER_H

#include "model/vm.h"

#include <stdio.h>

/*
 * SYMBOLS is for lld's --symbol-ordering-file, SECTIONS for the
 * --section-ordering-file of gold and mold (with -ffunction-sections).
 */
enum wndl_vm_order { WNDL_VM_ORDER_SYMBOLS, WNDL_VM_ORDER_SECTIONS };

/*
 * Writes one line for each function of `file`. The caller checks `out` with
 * ferror.
 */
void wndl_vm_order_write(FILE *out, const struct wndl_vm_startup_file *file,
    enum wndl_vm_order order);

#endif
