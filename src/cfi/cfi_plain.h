/* SPDX-License-Identifier: MIT */
/*
 * cfi_plain: the rows that nearly all code has, found in a fraction of the
 * time that the interpreter of all takes (cfi_run.c). It knows only the
 * records, encodings and instructions that compilers write for such code, and
 * gives up at anything else.
 */
#ifndef WNDL_CFI_CFI_PLAIN_H
#define WNDL_CFI_CFI_PLAIN_H

#include "cfi/cfi.h"

/* DWARF numbers of a machine's registers, and its bytes to a word. */
struct wndl_cfi_abi {
    uint8_t word, fp, sp, ra;
};

/*
 * CFA = register + offset; the return address is in the word below the CFA;
 * SP is the CFA. Nothing is said of other registers than FP.
 */
struct wndl_cfi_plain {
    uint32_t cfa_reg;
    uint32_t cfa_offset; /* bytes */
    uint32_t fp_words;   /* FP is as many words below the CFA; 0: as it was */
};

/*
 * The row that covers `pc`, by the FDE at `offset` of an .eh_frame of this
 * machine's byte order. True: wndl_fde_parse() and wndl_cfi_row_at() would
 * give the same row. False says nothing: ask those.
 */
bool wndl_cfi_plain_at(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_abi *abi, uint64_t offset, uint64_t pc,
    struct wndl_cfi_plain *row);

#endif
