/* SPDX-License-Identifier: MIT */
/*
 * a64: instructions of AArch64, as insn.h has them. Registers have the numbers
 * of the instructions, and SP is 31.
 *
 * A decoder of our own: all have four bytes, some twenty patterns say what they
 * do to general registers, and Zydis, which decodes x86, does not know them.
 *
 * Specification: Arm Architecture Reference Manual for A-profile (DDI 0487),
 * C4.1.
 */
#ifndef WNDL_CFI_IMPORT_CODE_A64_H
#define WNDL_CFI_IMPORT_CODE_A64_H

#include "cfi_import/code/insn.h"

/* As those of insn.h without "a64". */
bool wndl_insn_a64_decode(
    struct wndl_bytes code, uint64_t svma, struct wndl_insn *insn);
bool wndl_insn_a64_glance(
    struct wndl_bytes code, uint64_t svma, struct wndl_insn_glance *glance);

/* The addresses of pages in registers, as adrp leaves them. */
struct wndl_insn_pages {
    uint64_t of[WNDL_INSN_REGS];
    uint32_t known; /* a bit each */
};

/* Passes an instruction. True if it adds a constant to one of them. */
bool wndl_insn_a64_sum(struct wndl_insn_pages *pages, struct wndl_bytes code,
    uint64_t svma, uint64_t *address);

unsigned wndl_insn_a64_padding(struct wndl_bytes code);

#endif
