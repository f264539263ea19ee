/* SPDX-License-Identifier: MIT */
/*
 * code: the result of looking up a pc, wherever its rules are: in a module's
 * call frame information, in a table, or in a registry of generated code.
 */
#ifndef WNDL_UNWIND_CORE_CODE_H
#define WNDL_UNWIND_CORE_CODE_H

#include "cfi/cfi.h"

enum wndl_code_kind {
    WNDL_CODE_ROW,
    WNDL_CODE_NO_FDE,    /* in a module, but no FDE covers it */
    WNDL_CODE_NO_MODULE, /* in no module */
    WNDL_CODE_BAD,       /* damaged or unsupported CFI */
};

/*
 * The CFI of one pc, or a table's row. It points into the module's sections or
 * the table.
 */
struct wndl_code {
    struct wndl_cfi_section frame;
    struct wndl_cfi_row row;
    uint64_t start; /* of the function, avma; 0: not known */
};

#endif
