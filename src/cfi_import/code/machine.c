/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/machine.h"

#define KEPT_BY_BOTH                                                           \
    (1 << WNDL_INSN_RBX | 1 << WNDL_INSN_RSP | 1 << WNDL_INSN_RBP)

/* psABI of x86-64, figure 3.36; of i386, table 2.14; AAPCS64, 6.1.1, and
 * aadwarf64, 4.1. */
static const struct wndl_code_machine machines[] = {
    [WNDL_INSN_64] = {.word = 8,
        .red_zone = 128,
        .regs = 16,
        .sp = WNDL_INSN_RSP,
        .fp = WNDL_INSN_RBP,
        .link = WNDL_INSN_NO_REG,
        .dwarf_ra = 16,
        .dwarf = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15},
        .lasting = {5, 4, 3, 12, 13, 14, 15, 10, 0, 1, 2, 6, 7, 8, 9, 11},
        .keeps = KEPT_BY_BOTH | 0xf << WNDL_INSN_R12,
        .kept_count = 6,
        .kept = {WNDL_INSN_RBX, WNDL_INSN_RBP, 12, 13, 14, 15}},
    [WNDL_INSN_32] = {.word = 4,
        .red_zone = 0,
        .regs = 8,
        .sp = WNDL_INSN_RSP,
        .fp = WNDL_INSN_RBP,
        .link = WNDL_INSN_NO_REG,
        .dwarf_ra = 8,
        .dwarf = {0, 1, 2, 3, 4, 5, 6, 7},
        .lasting = {5, 4, 3, 0, 1, 2, 6, 7},
        .keeps = KEPT_BY_BOTH | 1 << WNDL_INSN_RSI | 1 << WNDL_INSN_RDI,
        .kept_count = 4,
        .kept = {WNDL_INSN_RBX, WNDL_INSN_RBP, WNDL_INSN_RSI, WNDL_INSN_RDI}},
    [WNDL_INSN_A64] = {.word = 8,
        .red_zone = 0,
        .regs = 32,
        .sp = WNDL_INSN_SP,
        .fp = WNDL_INSN_X29,
        .link = WNDL_INSN_X30,
        .dwarf_ra = 30,
        .dwarf = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
            18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
        .lasting = {29, 31, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 15, 14, 13,
            12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 16, 17, 18, 30},
        .keeps = UINT32_C(0x7ff) << 19 | UINT32_C(1) << WNDL_INSN_SP,
        .kept_count = 11,
        .kept = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, WNDL_INSN_X29}},
};

const struct wndl_code_machine *wndl_code_machine_of(enum wndl_insn_mode mode)
{
    return &machines[mode];
}
