/* SPDX-License-Identifier: MIT */
/*
 * a64_rows: the rows of nearly all AArch64 code, in 24 bits, as in unwind
 * tables. Such a row has the CFA, by SP or x29, and the place where x29 and
 * x30, the return address, are saved. They are side by side, as in a frame
 * record, or x30 is alone, or neither is saved.
 */
#ifndef WNDL_UNWIND_TABLE_A64_ROWS_H
#define WNDL_UNWIND_TABLE_A64_ROWS_H

#include "cfi/cfi.h"

enum {
    WNDL_A64_FP = 29,
    WNDL_A64_LR = 30,
    WNDL_A64_SP = 31,
    WNDL_A64_PC = 32,
};

struct wndl_a64_plain {
    bool by_fp;    /* the CFA counts from x29, not from SP */
    bool lone;     /* x30 is in the slot; else x29 is, and x30 in the next */
    bool signed_;  /* the return address is signed, wherever it is */
    uint16_t slot; /* words below the CFA, at most 1,023; 0: nothing is saved */
    uint16_t cfa;  /* units of 16 bytes, at most 4,095 */
};

/* False if the row is of another kind, or does not fit. */
bool wndl_a64_of_row(
    const struct wndl_cfi_row *row, struct wndl_a64_plain *plain);

/* Adds the rules of x29, x30 and the CFA; others are unchanged. */
void wndl_a64_to_row(
    const struct wndl_a64_plain *plain, struct wndl_cfi_row *row);

/* Packs all but by_fp, in the lower 24 bits. */
static inline uint32_t wndl_a64_pack(const struct wndl_a64_plain *plain)
{
    return (uint32_t)plain->cfa << 12 | (uint32_t)plain->signed_ << 11 |
           (uint32_t)plain->lone << 10 | plain->slot;
}

/* False if no row has these bits. */
static inline bool wndl_a64_unpack(
    uint32_t bits, bool by_fp, struct wndl_a64_plain *plain)
{
    *plain = (struct wndl_a64_plain){
        .by_fp = by_fp,
        .cfa = (uint16_t)(bits >> 12 & 0xfff),
        .signed_ = (bits >> 11 & 1) != 0,
        .lone = (bits >> 10 & 1) != 0,
        .slot = (uint16_t)(bits & 0x3ff),
    };
    return plain->lone ? plain->slot != 0 : plain->slot != 1;
}

#endif
