/* SPDX-License-Identifier: MIT */
/*
 * insn: one instruction of x86-64, i386 or AArch64, as far as it matters to the
 * stack: what it does to SP, which registers it copies, saves and loads, and
 * where it leads. Registers of i386 have the names of x86-64, and a word is the
 * mode's. Zydis decodes, which only insn.c knows, or a64.h.
 */
#ifndef WNDL_CFI_IMPORT_CODE_INSN_H
#define WNDL_CFI_IMPORT_CODE_INSN_H

#include "base/bytes.h"

/* General registers, as instructions encode them. */
enum {
    WNDL_INSN_RAX = 0,
    WNDL_INSN_RBX = 3,
    WNDL_INSN_RSP = 4,
    WNDL_INSN_RBP = 5,
    WNDL_INSN_RSI = 6,
    WNDL_INSN_RDI = 7,
    WNDL_INSN_R12 = 12,
    WNDL_INSN_R15 = 15,
    WNDL_INSN_X29 = 29, /* AArch64 */
    WNDL_INSN_X30 = 30,
    WNDL_INSN_SP = 31,
    WNDL_INSN_REGS = 32, /* of any mode */
    WNDL_INSN_NO_REG = 0xff,
    WNDL_INSN_LONGEST = 15, /* bytes */
};

/* The mode of the processor that code is made for. */
enum wndl_insn_mode {
    WNDL_INSN_64, /* x86-64 */
    WNDL_INSN_32, /* i386 */
    WNDL_INSN_A64,
};

enum wndl_insn_op {
    WNDL_INSN_OTHER,
    WNDL_INSN_NOP,
    WNDL_INSN_MOVE,     /* reg = from */
    WNDL_INSN_LOAD,     /* reg = the word at mem */
    WNDL_INSN_STORE,    /* the word at mem = from */
    WNDL_INSN_ADDRESS,  /* reg = address of mem, which may be any sum */
    WNDL_INSN_ADD,      /* reg += value */
    WNDL_INSN_ALIGN,    /* reg &= value, a negative power of two */
    WNDL_INSN_EXCHANGE, /* reg and from */
    WNDL_INSN_PUSH,     /* from, which may be no register */
    WNDL_INSN_POP,      /* reg, which may be no register */
    WNDL_INSN_ENTER,    /* `value` bytes below the saved RBP */
    WNDL_INSN_LEAVE,
    WNDL_INSN_COMPARE,     /* reg with value */
    WNDL_INSN_COMPARE_REG, /* reg with from, a word each */
    WNDL_INSN_LOAD_SIGNED, /* reg = 4 bytes at mem, extended; A64: `width` */
    WNDL_INSN_LOAD_PART,   /* A64: reg = `width` bits at mem */
    WNDL_INSN_NUMBER,      /* A64: reg = value */
    WNDL_INSN_INSERT,      /* A64: 16 bits of reg, from bit `width` on */
    WNDL_INSN_ADD_REG,     /* reg += from */
    WNDL_INSN_CALL,        /* of `target` */
    WNDL_INSN_CALL_OTHER,  /* of what is not known */
    WNDL_INSN_JUMP,
    WNDL_INSN_JUMP_OTHER, /* by `from`, or by mem if that is no register */
    WNDL_INSN_BRANCH,     /* to `target` or on */
    WNDL_INSN_RETURN,     /* and frees `value` bytes; A64: to `from` */
    WNDL_INSN_STOP,       /* does not go on */
};

/*
 * A memory operand: base + index * scale + offset. Without base and index,
 * `offset` is its svma if `fixed`.
 */
struct wndl_insn_mem {
    uint8_t base, index, scale;
    bool fixed;
    bool in_segment; /* FS or GS: somewhere else */
    bool subtracts;  /* A64: the index */
    uint8_t extend;  /* A64: how the index becomes a word (DDI 0487, C1.2.5) */
    int64_t offset;
};

/* The changes of the return address in its register (A64). */
enum { WNDL_INSN_SIGNS = 1, WNDL_INSN_UNSIGNS = 2 };

struct wndl_insn {
    uint8_t size;
    uint8_t op;        /* enum wndl_insn_op */
    uint8_t reg, from; /* registers, or WNDL_INSN_NO_REG */
    uint8_t second;    /* A64: the other register of a pair, or none: it is
                        * loaded or stored one word above */
    uint8_t sign;      /* WNDL_INSN_SIGNS, WNDL_INSN_UNSIGNS, or 0 */
    uint8_t width;     /* bits of a comparison or a copy */
    bool above;        /* a branch if the comparison found more (ja) */
    bool above_same;   /* ... or as much (jae) */
    bool unequal;      /* ... or another value (jne) */
    bool is_pair;      /* LOAD and STORE of two words */
    bool is_padding;   /* does nothing, or must not be reached */
    bool is_syscall;   /* of the kernel */
    uint8_t zeroes;    /* a register that becomes 0, or WNDL_INSN_NO_REG */
    uint32_t writes;   /* a bit for each register that loses its value */
    uint16_t stores;   /* bytes written to mem; 0: none */
    /* CALL: the bytes above its return address that the callee frees, and a bit
     * for each register that it keeps, but need not. Set by who knows. */
    uint16_t frees;
    uint32_t keeps;
    struct wndl_insn_mem mem;
    int32_t moves; /* A64: added to mem's base at the end */
    int64_t value;
    uint64_t target;
};

/* Decodes the first instruction of `code`, at `svma`. False if it is none. */
bool wndl_insn_decode(enum wndl_insn_mode mode, struct wndl_bytes code,
    uint64_t svma, struct wndl_insn *insn);

/* An instruction's reference, read without its operands, which is faster. */
struct wndl_insn_glance {
    uint8_t size;
    /* CALL, JUMP, BRANCH; ADDRESS of RIP (A64: adr), or a constant of 4 bytes
     * where an address has as many; else OTHER */
    uint8_t op;
    bool is_padding;
    bool from_base;   /* i386: an ADDRESS that counts from a register */
    bool is_constant; /* ... one that the code has as it is */
    /* x86: of vectors and the like; it writes no general register and no
     * memory. Decoded, it is OTHER without effects. */
    bool is_plain;
    uint64_t target;
};

bool wndl_insn_glance(enum wndl_insn_mode mode, struct wndl_bytes code,
    uint64_t svma, struct wndl_insn_glance *glance);

/*
 * The bytes of the padding that the code begins with: an instruction that does
 * nothing, or a byte between functions. 0: the code does something.
 */
unsigned wndl_insn_padding(enum wndl_insn_mode mode, struct wndl_bytes code);

#endif
