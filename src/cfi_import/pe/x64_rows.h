/* SPDX-License-Identifier: MIT */
/*
 * x64_rows: the rows of a function of x86-64 whose prologue is known step by
 * step: those of the prologue, of the body, and of the epilogues that are found
 * in its code.
 */
#ifndef WNDL_CFI_IMPORT_PE_X64_ROWS_H
#define WNDL_CFI_IMPORT_PE_X64_ROWS_H

#include "cfi_import/core/frame_writer.h"
#include "cfi_import/pe/epilogue.h"

/* Borrowed. */
struct wndl_x64_function {
    const struct wndl_pe_unwind *unwind;
    uint64_t start, end;    /* svma */
    struct wndl_bytes code; /* all of it, or empty: no epilogues then */
    /* Empty, or that with `before` bytes in front and any behind it: compilers
     * part a function anywhere, in its epilogues, too. */
    struct wndl_bytes around;
    size_t before;
};

/* Rows of the function that the writer has begun. Epilogues, if unwind->version
 * is 2, only where it tells of some: how many of these are no such is returned.
 */
uint32_t wndl_x64_write_rows(
    struct wndl_frame_writer *w, const struct wndl_x64_function *function);

#endif
