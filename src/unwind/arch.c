/* SPDX-License-Identifier: MIT */
#include "unwind/arch.h"

#include <elf.h>
#include <stddef.h>
#include <windlass/unwind.h>

const struct wndl_arch wndl_arch_x86_64 = {
    .word = 8,
    .bx = 3,
    .fp = 6,
    .sp = 7,
    .ra = 16,
    .gregs = 17,
    .dwarf_of_greg = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16},
};

/* Segment registers come first; trap and error numbers before EIP. */
const struct wndl_arch wndl_arch_i386 = {
    .word = 4,
    .bx = 3,
    .fp = 5,
    .sp = 4,
    .ra = 8,
    .gregs = 15,
    .dwarf_of_greg = {WNDL_NO_REG, WNDL_NO_REG, WNDL_NO_REG, WNDL_NO_REG, 7, 6,
        5, 4, 3, 2, 1, 0, WNDL_NO_REG, WNDL_NO_REG, 8},
};

const struct wndl_arch *wndl_arch_of(uint16_t machine)
{
    if (machine == 0)
        return WNDL_ARCH_HERE;
    if (machine == EM_X86_64)
        return &wndl_arch_x86_64;
    return machine == EM_386 ? &wndl_arch_i386 : NULL;
}

void wndl_regs_from_context(struct wndl_regs *regs, const void *ucontext)
{
    const greg_t *gregs = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    *regs = (struct wndl_regs){
        .ip = (uintptr_t)gregs[WNDL_GREG_IP],
        .sp = (uintptr_t)gregs[WNDL_GREG_SP],
        .fp = (uintptr_t)gregs[WNDL_GREG_FP],
        .bx = (uintptr_t)gregs[WNDL_GREG_BX],
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
        .gregs = gregs,
    };
}
