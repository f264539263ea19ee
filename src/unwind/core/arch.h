/* SPDX-License-Identifier: MIT */
/*
 * arch: the unwinder's knowledge of processors, all in this place. The
 * constants are of the processor that the code is built for, by whose rules the
 * hot loop steps. The tables are of all processors, for the slow path, which
 * walks other processes, too.
 */
#ifndef WNDL_UNWIND_CORE_ARCH_H
#define WNDL_UNWIND_CORE_ARCH_H

#include "cfi/cfi.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/*
 * WORD      bytes of an address and of a stack slot START_GAP bytes by which SP
 * is at most below the kernel's when ld.so calls RED_ZONE  bytes below SP that
 * code without calls may use DWARF_*   register numbers of the psABIs (figure
 * 3.36 of x86-64's, table
 *           2.14 of i386's, where .eh_frame has the same numbers), of
 *           aadwarf64, 4.1, where PC is the place of `ra` after a step, and
 *           of aadwarf32, 4.1, where BX is r7, Thumb code's frame pointer
 * GREG_*    places in a ucontext_t's gregs; AArch64's are regs, sp and pc,
 *           those of 32-bit Arm arm_r0 to arm_pc
 */
#if defined(__x86_64__)
#define WNDL_ARCH_HERE (&wndl_arch_x86_64)
enum {
    WNDL_WORD = 8,
    WNDL_START_GAP = 15,
    WNDL_RED_ZONE = 128,
    WNDL_DWARF_BX = 3,
    WNDL_DWARF_FP = 6,
    WNDL_DWARF_SP = 7,
    WNDL_DWARF_RA = 16,
    WNDL_DWARF_PC = WNDL_DWARF_RA,
    WNDL_GREG_BX = REG_RBX,
    WNDL_GREG_FP = REG_RBP,
    WNDL_GREG_SP = REG_RSP,
    WNDL_GREG_IP = REG_RIP,
    WNDL_GREGS = 17,
};
#elif defined(__i386__)
#define WNDL_ARCH_HERE (&wndl_arch_i386)
enum {
    WNDL_WORD = 4,
    WNDL_START_GAP = 47,
    WNDL_RED_ZONE = 0,
    WNDL_DWARF_BX = 3,
    WNDL_DWARF_FP = 5,
    WNDL_DWARF_SP = 4,
    WNDL_DWARF_RA = 8,
    WNDL_DWARF_PC = WNDL_DWARF_RA,
    WNDL_GREG_BX = REG_EBX,
    WNDL_GREG_FP = REG_EBP,
    WNDL_GREG_SP = REG_ESP,
    WNDL_GREG_IP = REG_EIP,
    WNDL_GREGS = 15,
};
#elif defined(__aarch64__)
#define WNDL_ARCH_HERE (&wndl_arch_aarch64)
enum {
    WNDL_WORD = 8,
    WNDL_START_GAP = 15,
    WNDL_RED_ZONE = 0,
    WNDL_DWARF_BX = 19,
    WNDL_DWARF_FP = 29,
    WNDL_DWARF_SP = 31,
    WNDL_DWARF_RA = 30,
    WNDL_DWARF_PC = 32,
    WNDL_GREG_BX = 19,
    WNDL_GREG_FP = 29,
    WNDL_GREG_SP = 31,
    WNDL_GREG_IP = 32,
    WNDL_GREGS = 33,
};
#elif defined(__arm__)
#define WNDL_ARCH_HERE (&wndl_arch_arm)
enum {
    WNDL_WORD = 4,
    WNDL_START_GAP = 15,
    WNDL_RED_ZONE = 0,
    WNDL_DWARF_BX = 7,
    WNDL_DWARF_FP = 11,
    WNDL_DWARF_SP = 13,
    WNDL_DWARF_RA = 14,
    WNDL_DWARF_PC = 15,
    WNDL_GREG_BX = 7,
    WNDL_GREG_FP = 11,
    WNDL_GREG_SP = 13,
    WNDL_GREG_IP = 15,
    WNDL_GREGS = 16,
};
#else
#error "the unwinder is written for x86-64, i386, AArch64 and 32-bit Arm"
#endif

_Static_assert(sizeof(void *) == WNDL_WORD && sizeof(greg_t) == WNDL_WORD,
    "addresses and registers are words");

enum { WNDL_GREGS_MAX = 33, WNDL_NO_REG = 0xff };

struct wndl_arch {
    uint8_t family; /* enum wndl_cfi_family */
    uint8_t word;
    /* DWARF numbers. `ra` is the column of the return address, `pc` its place
     * after a step. They are equal where calls push it. */
    uint8_t bx, fp, sp, ra, pc;
    bool reads_code; /* x86's, for what CFI does not say */
    uint8_t gregs;   /* number of those that matter */
    uint8_t dwarf_of_greg[WNDL_GREGS_MAX]; /* WNDL_NO_REG: not used */
};

extern const struct wndl_arch wndl_arch_x86_64, wndl_arch_i386,
    wndl_arch_aarch64, wndl_arch_arm;

/*
 * The description of an ELF machine number, 0 for this process's. NULL:
 * unknown.
 */
const struct wndl_arch *wndl_arch_of(uint16_t machine);

#endif
