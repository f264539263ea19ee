/* SPDX-License-Identifier: MIT */
/*
 * code: the effect of single 32-bit Arm instructions, Thumb-2 or ARM, on the
 * stack pointer and on stack slots. All others are OTHER: this is for prologues
 * and epilogues, not a disassembler.
 *
 * Signal-safe, as exidx.h.
 *
 * Specification: Arm Architecture Reference Manual for Armv7-A (DDI 0406C), A5,
 * A6 and A8.
 */
#ifndef WNDL_UNWIND_ARM_CODE_H
#define WNDL_UNWIND_ARM_CODE_H

#include "base/bytes.h"

/* Little-endian code, also BE8's. `addr` is the address of bytes[0]. */
struct wndl_arm_code {
    struct wndl_bytes bytes;
    uint64_t addr;
    bool thumb;
};

enum wndl_arm_kind {
    WNDL_ARM_OTHER,
    WNDL_ARM_PUSH,   /* sp += amount (< 0); registers of `mask` at sp */
    WNDL_ARM_POP,    /* registers of `mask` from sp; sp += amount */
    WNDL_ARM_STORE,  /* registers of `mask` at sp + amount */
    WNDL_ARM_LOAD,   /* registers of `mask` from sp + amount */
    WNDL_ARM_ADD,    /* reg = base + amount; either may be sp */
    WNDL_ARM_ADDREG, /* sp += `base` * amount, which is 1 or -1 */
    WNDL_ARM_CONST,  /* reg = amount */
    WNDL_ARM_TOP,    /* the upper half of reg = amount */
    WNDL_ARM_RETURN, /* bx lr */
    WNDL_ARM_JUMP,   /* to `target`, 0 if it is not known; for a table of
                      * branches the first target. `base` is ip if a stub of
                      * a procedure linkage table leaves by it */
    WNDL_ARM_BRANCH, /* the same under a condition */
    WNDL_ARM_CALL,
    WNDL_ARM_IT,       /* the next `amount` instructions have conditions */
    WNDL_ARM_MOVES_SP, /* changes sp in another way */
};

struct wndl_arm_insn {
    uint8_t kind; /* enum wndl_arm_kind */
    uint8_t size; /* 2 or 4 */
    uint8_t reg, base;
    bool conditional; /* for ARM code; in Thumb an IT precedes */
    uint16_t mask;    /* core registers; 0: only others */
    int64_t amount;
    uint64_t target;
};

/* Decodes the instruction at `at`. False if it is not all in the bytes. */
bool wndl_arm_decode(
    const struct wndl_arm_code *code, uint64_t at, struct wndl_arm_insn *insn);

#endif
