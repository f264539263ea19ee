/* SPDX-License-Identifier: MIT */
/* win: STACK WIN records, for i386 code of Windows. */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_WIN_H
#define WNDL_CFI_IMPORT_STACK_RECORD_WIN_H

#include "cfi_import/stack_record/reading.h"

/* Writes the functions of `records` (struct wndl_breakpad_stack), all WIN. */
void wndl_stack_record_write_win(
    struct wndl_stack_record_reading *r, const struct wndl_vec *records);

#endif
