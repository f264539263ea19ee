/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/machine.h"

#define KEPT_BY_BOTH                                                           \
    (1 << WNDL_INSN_RBX | 1 << WNDL_INSN_RSP | 1 << WNDL_INSN_RBP)

/* psABI of x86-64, figure 3.36; of i386, table 2.14. */
static const struct wndl_code_machine machines[] = {
    [WNDL_INSN_64] = {.word = 8,
        .red_zone = 128,
        .regs = 16,
        .sp = WNDL_INSN_RSP,
        .fp = WNDL_INSN_RBP,
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
        .dwarf_ra = 8,
        .dwarf = {0, 1, 2, 3, 4, 5, 6, 7},
        .lasting = {5, 4, 3, 0, 1, 2, 6, 7},
        .keeps = KEPT_BY_BOTH | 1 << WNDL_INSN_RSI | 1 << WNDL_INSN_RDI,
        .kept_count = 4,
        .kept = {WNDL_INSN_RBX, WNDL_INSN_RBP, WNDL_INSN_RSI, WNDL_INSN_RDI}},
};

const struct wndl_code_machine *wndl_code_machine_of(enum wndl_insn_mode mode)
{
    return &machines[mode];
}
