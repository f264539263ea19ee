/* SPDX-License-Identifier: MIT */
/*
 * machine: the differences of x86-64, i386 and AArch64 for those who follow
 * their code: words, where the return address is, the registers that callees
 * keep, and DWARF's numbers of registers.
 */
#ifndef WNDL_CFI_IMPORT_CODE_MACHINE_H
#define WNDL_CFI_IMPORT_CODE_MACHINE_H

#include "cfi_import/code/insn.h"

enum { WNDL_CODE_MOST_KEPT = 11 };

struct wndl_code_machine {
    uint8_t word;     /* bytes of an address, and of what push and pop move */
    uint8_t red_zone; /* bytes below SP that handlers leave alone */
    uint8_t regs;     /* general registers */
    uint8_t sp, fp;   /* of those: the stack pointer, the frame pointer */
    uint8_t link;     /* the register that calls put the return address into;
                       * none: they push it */
    uint8_t dwarf_ra; /* DWARF's number of the return address */
    uint8_t dwarf[WNDL_INSN_REGS]; /* ... of the others, by the instructions' */
    uint8_t lasting[WNDL_INSN_REGS]; /* all, by how long they keep values */
    uint32_t keeps; /* a bit for each register that callees keep */
    uint8_t kept_count;
    uint8_t kept[WNDL_CODE_MOST_KEPT]; /* those, but SP */
};

const struct wndl_code_machine *wndl_code_machine_of(enum wndl_insn_mode mode);

#endif
