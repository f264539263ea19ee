/* SPDX-License-Identifier: MIT */
/*
 * cfi_plain: a fast reader of the rows that nearly all code has. It takes a
 * fraction of the time of the full interpreter (cfi_run.c). It knows only the
 * records, encodings and instructions that compilers write for such code, and
 * gives up at anything else.
 */
#ifndef WNDL_CFI_CFI_PLAIN_H
#define WNDL_CFI_CFI_PLAIN_H

#include "cfi/cfi.h"

/* DWARF numbers of a machine's registers, and the bytes of a word. */
struct wndl_cfi_abi {
    uint8_t word, fp, sp, ra;
};

/*
 * A plain row: CFA = register + offset; the return address is in the word below
 * the CFA; SP is the CFA. It has no rules for registers other than FP.
 */
struct wndl_cfi_plain {
    uint32_t cfa_reg;
    uint32_t cfa_offset; /* bytes */
    uint32_t fp_words;   /* words from FP's slot up to the CFA; 0: FP is
                          * unchanged */
};

/*
 * Computes the row that covers `pc`, by the FDE at `offset` of an .eh_frame of
 * this machine's byte order. True: wndl_fde_parse() and wndl_cfi_row_at() would
 * give the same row. False means not known: ask those.
 */
bool wndl_cfi_plain_at(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_abi *abi, uint64_t offset, uint64_t pc,
    struct wndl_cfi_plain *row);

#endif
