/* SPDX-License-Identifier: MIT */
#include "unwind/core/arch.h"

#include <elf.h>
#include <stddef.h>
#include <windlass/unwind.h>

const struct wndl_arch wndl_arch_x86_64 = {
    .word = 8,
    .bx = 3,
    .fp = 6,
    .sp = 7,
    .ra = 16,
    .pc = 16,
    .reads_code = true,
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
    .pc = 8,
    .reads_code = true,
    .gregs = 15,
    .dwarf_of_greg = {WNDL_NO_REG, WNDL_NO_REG, WNDL_NO_REG, WNDL_NO_REG, 7, 6,
        5, 4, 3, 2, 1, 0, WNDL_NO_REG, WNDL_NO_REG, 8},
};

/* x0 to x30, SP and PC, as a sigcontext has them. A leaf's caller is in x30. */
const struct wndl_arch wndl_arch_aarch64 = {
    .family = WNDL_CFI_AARCH64,
    .word = 8,
    .bx = WNDL_NO_REG,
    .fp = 29,
    .sp = 31,
    .ra = 30,
    .pc = 32,
    .gregs = 33,
    .dwarf_of_greg = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32},
};

/* A leaf's caller is in r14. Code is read where frames are looked up. */
const struct wndl_arch wndl_arch_arm = {
    .family = WNDL_CFI_ARM,
    .word = 4,
    .bx = 7,
    .fp = 11,
    .sp = 13,
    .ra = 14,
    .pc = 15,
    .gregs = 16,
    .dwarf_of_greg = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

const struct wndl_arch *wndl_arch_of(uint16_t machine)
{
    if (machine == 0)
        return WNDL_ARCH_HERE;
    if (machine == EM_X86_64)
        return &wndl_arch_x86_64;
    if (machine == EM_AARCH64)
        return &wndl_arch_aarch64;
    if (machine == EM_ARM)
        return &wndl_arch_arm;
    return machine == EM_386 ? &wndl_arch_i386 : NULL;
}

void wndl_regs_from_context(struct wndl_regs *regs, const void *ucontext)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;
#if defined(__aarch64__)
    _Static_assert(offsetof(mcontext_t, pc) - offsetof(mcontext_t, regs) ==
                       WNDL_GREG_IP * WNDL_WORD,
        "SP and PC come after the others");
    const unsigned long long *gregs = machine->regs;
#elif defined(__arm__)
    _Static_assert(
        offsetof(mcontext_t, arm_pc) - offsetof(mcontext_t, arm_r0) ==
            WNDL_GREG_IP * WNDL_WORD,
        "general registers follow each other");
    const unsigned long *gregs = &machine->arm_r0;
#else
    const greg_t *gregs = machine->gregs;
#endif
    *regs = (struct wndl_regs){
        .ip = (uintptr_t)gregs[WNDL_GREG_IP],
        .sp = (uintptr_t)gregs[WNDL_GREG_SP],
        .fp = (uintptr_t)gregs[WNDL_GREG_FP],
        .bx = (uintptr_t)gregs[WNDL_GREG_BX],
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
        .gregs = gregs,
    };
}
