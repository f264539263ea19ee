/* SPDX-License-Identifier: MIT */
/*
 * x64_rows: the rows of an x86-64 function whose prologue is known step by
 * step: those of the prologue, of the body, and of the epilogues in its code.
 */
#ifndef WNDL_CFI_IMPORT_PE_X64_ROWS_H
#define WNDL_CFI_IMPORT_PE_X64_ROWS_H

#include "cfi_import/core/frame_writer.h"
#include "cfi_import/pe/epilogue.h"

/* Borrowed. */
struct wndl_x64_function {
    const struct wndl_pe_unwind *unwind;
    uint64_t start, end;    /* svma */
    struct wndl_bytes code; /* all of it; empty: epilogues are not found */
    /* Empty, or the code with `before` bytes in front and any after it:
     * compilers split a function anywhere, even in its epilogues. */
    struct wndl_bytes around;
    size_t before;
};

/*
 * Writes rows of the function that the writer has begun. If unwind->version is
 * 2, only the epilogues that it lists are used. Returns how many of these are
 * not epilogues.
 */
uint32_t wndl_x64_write_rows(
    struct wndl_frame_writer *w, const struct wndl_x64_function *function);

#endif
