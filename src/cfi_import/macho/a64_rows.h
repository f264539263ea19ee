/* SPDX-License-Identifier: MIT */
/*
 * a64_rows: the rows of an AArch64 function for which only the rules of its
 * body are known. Its code is followed from the start until it has made them,
 * and from there to the instructions that undo them.
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
    /* The CFA counts from SP, or from X29, which is saved with X30 below the
     * CFA. Registers are at offsets from the CFA. */
    const struct wndl_cfi_row *body;
};

/*
 * Writes rows of the function that the writer has begun. False, and nothing is
 * written, if the code does not reach the body's rules. The time is linear in
 * the code's size.
 */
bool wndl_a64_write_rows(
    struct wndl_frame_writer *w, const struct wndl_a64_function *function);

#endif
