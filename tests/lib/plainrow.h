/* SPDX-License-Identifier: MIT */
/*
 * plainrow: whether what cfi/cfi_plain.h finds is what the interpreter of all
 * instructions finds, for the tests of cfi.
 */
#ifndef WNDL_PLAINROW_H
#define WNDL_PLAINROW_H

#include "cfi/cfi_plain.h"

static const struct wndl_cfi_abi plain_abi_x86_64 = {8, 6, 7, 16};
static const struct wndl_cfi_abi plain_abi_i386 = {4, 5, 4, 8};

static inline bool plain_row_is(const struct wndl_cfi_plain *plain,
    const struct wndl_cfi_abi *abi, const struct wndl_cfi_row *row)
{
    const struct wndl_cfi_rule *fp = &row->regs[abi->fp];
    const struct wndl_cfi_rule *ra = &row->regs[abi->ra];
    bool fp_is_saved = fp->kind == WNDL_RULE_OFFSET;
    if (fp_is_saved ? fp->offset != -(int64_t)plain->fp_words * abi->word
                    : plain->fp_words != 0 || fp->kind != WNDL_RULE_UNSET)
        return false;
    return row->cfa.kind == WNDL_RULE_REGISTER &&
           row->cfa.reg == plain->cfa_reg &&
           row->cfa.offset == plain->cfa_offset && !row->signal_frame &&
           row->ra_reg == abi->ra && ra->kind == WNDL_RULE_OFFSET &&
           ra->offset == -abi->word &&
           row->regs[abi->sp].kind == WNDL_RULE_UNSET;
}

/* False if the two disagree. *is_plain: it was found by cfi/cfi_plain.h. */
static inline bool plain_agrees(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_abi *abi, uint64_t offset, uint64_t pc,
    bool *is_plain)
{
    struct wndl_cfi_plain plain;
    struct wndl_cfi_row row;
    struct wndl_fde fde;
    *is_plain = wndl_cfi_plain_at(frame, abi, offset, pc, &plain);
    if (!*is_plain)
        return true;
    return wndl_fde_parse(frame, offset, &fde, NULL, NULL) == WNDL_OK &&
           wndl_cfi_row_at(frame, &fde, pc, &row, NULL) == WNDL_OK &&
           plain_row_is(&plain, abi, &row);
}

#endif
