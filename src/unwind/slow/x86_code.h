/* SPDX-License-Identifier: MIT */
/*
 * x86_code: takes an instruction of x86-64 or i386 apart: its length, and the
 * registers that it names. It must not know what the instruction does.
 *
 * Specification: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, chapter 2 and appendix A.
 */
#ifndef WNDL_UNWIND_SLOW_X86_CODE_H
#define WNDL_UNWIND_SLOW_X86_CODE_H

#include "base/bytes.h"

enum { WNDL_X86_LONGEST = 15 };

/* The table of opcodes that an instruction is from. */
enum wndl_x86_map {
    WNDL_X86_ONE = 0, /* opcodes of one byte */
    WNDL_X86_0F = 1,
    WNDL_X86_0F38 = 2,
    WNDL_X86_0F3A = 3,
};

struct wndl_x86 {
    uint8_t size;   /* bytes of it all */
    uint8_t map;    /* enum wndl_x86_map */
    bool is_vector; /* VEX or EVEX */
    uint8_t opcode;
    uint8_t prefix; /* 0, 0x66, 0xf2 or 0xf3: the last of these */
    bool has_rex;
    bool is_narrow; /* an address is cut to 32 bits: prefix 67 of x86-64 */
    bool is_wide;   /* REX.W */
    bool has_modrm;
    uint8_t low;          /* the register in the opcode */
    uint8_t mod, reg, rm; /* of ModRM, with the bits of the prefixes */
    uint8_t vvvv;         /* the third register of VEX and EVEX */
    bool has_sib;
    uint8_t index, base;  /* of SIB; base is `rm` without it */
    int32_t displacement; /* of the memory operand */
    int64_t immediate;    /* sign-extended; also the distance of a jump */
};

/*
 * Reads the instruction at the start of `code`. False if it is not a valid one,
 * is cut, has 16-bit addresses, or is AMD's XOP.
 */
bool wndl_x86_decode(
    struct wndl_bytes code, bool is_64, struct wndl_x86 *instruction);

#endif
