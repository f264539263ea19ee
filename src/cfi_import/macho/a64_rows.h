/* SPDX-License-Identifier: MIT */
/*
 * a64_rows: the rows of an AArch64 function of which only the rules of its body
 * are known: its code is followed from the start to where it has made them, and
 * from there on for what undoes them.
 *
 * Specification: Arm Architecture Reference Manual for A-profile (DDI 0487),
 * C4.1, for the instructions that change SP, save and load registers, or
 * branch.
 */
#ifndef WNDL_CFI_IMPORT_MACHO_A64_ROWS_H
#define WNDL_CFI_IMPORT_MACHO_A64_ROWS_H

#include "base/bytes.h"
#include "cfi_import/core/frame_writer.h"

/* Borrowed. */
struct wndl_a64_function {
    uint64_t start, end;    /* svma */
    struct wndl_bytes code; /* all of it */
    /* CFA by SP, or by X29, which is saved with X30 below it; registers at
     * offsets from the CFA. */
    const struct wndl_cfi_row *body;
};

/*
 * Rows of the function that the writer has begun. False, and nothing is
 * written, where the code does not come to the body's rules. Takes time by the
 * code's size.
 */
bool wndl_a64_write_rows(
    struct wndl_frame_writer *w, const struct wndl_a64_function *function);

#endif
