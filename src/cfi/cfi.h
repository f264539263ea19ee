/* SPDX-License-Identifier: MIT */
/*
 * cfi: call frame information (.eh_frame, .eh_frame_hdr): records, the search
 * table, and the interpreter that computes the row of rules for one pc.
 *
 * It takes (bytes, section address, bases), never an object file. Everything
 * here is signal-safe: no allocation, no lock, no recursion, no libc call but
 * mem*; `rt` compiles it in.
 *
 * Specifications: DWARF 5, 6.4 and 7.24; LSB 5.0 Core, 10.6 (.eh_frame and
 * .eh_frame_hdr, augmentations "zRPLS"); DWARF for the Arm 64-bit Architecture
 * (aadwarf64), 4.1 and 4.2 (registers, return address signing, "BG").
 */
#ifndef WNDL_CFI_CFI_H
#define WNDL_CFI_CFI_H

#include "base/addr.h"
#include "base/bytes.h"
#include "base/status.h"

/* The processor family that a section's numbers and instructions are for. */
enum wndl_cfi_family {
    WNDL_CFI_X86 = 0, /* x86-64, and i386 if addresses have 4 bytes */
    WNDL_CFI_AARCH64,
    WNDL_CFI_ARM, /* 32-bit Arm */
};

/* A section as linked or mapped. `addr` is the address of bytes[0]. */
struct wndl_cfi_section {
    struct wndl_bytes bytes;
    uint64_t addr;        /* svma in a file, avma in this process */
    uint64_t text_base;   /* DW_EH_PE_textrel; 0 if not known */
    uint64_t data_base;   /* DW_EH_PE_datarel: .got, or the hdr of its table */
    uint8_t address_size; /* 4 or 8 */
    bool big_endian;
    bool debug_frame; /* CIE pointers follow .debug_frame's rules */
    uint8_t family;   /* enum wndl_cfi_family */
};

struct wndl_cie {
    uint64_t offset; /* of the record in the section */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_reg;
    uint8_t fde_encoding;  /* DW_EH_PE_* */
    uint8_t lsda_encoding; /* DW_EH_PE_omit if there is none */
    bool signal_frame;     /* 'S' */
    bool has_z;
    struct wndl_bytes program; /* initial instructions */
};

struct wndl_fde {
    struct wndl_cie cie;
    uint64_t offset;
    uint64_t start, end; /* code at [start, end), of the same kind as the
                          * section's addr */
    struct wndl_bytes program;
};

/* Register numbers of DW_CFA_* and rules: DWARF's for the machine. */
enum {
    WNDL_CFI_X86_REGS = 17,     /* x86-64: 0..15 and RA = 16 */
    WNDL_CFI_AARCH64_REGS = 33, /* x0..x30, SP = 31 and PC = 32 */
    WNDL_CFI_REGS = WNDL_CFI_AARCH64_REGS,
};

/* The tracked registers are those with numbers below this. */
static inline unsigned wndl_cfi_reg_count(
    const struct wndl_cfi_section *section)
{
    return section->family == WNDL_CFI_AARCH64 ? WNDL_CFI_AARCH64_REGS
                                               : WNDL_CFI_X86_REGS;
}

enum wndl_cfi_rule_kind {
    WNDL_RULE_UNSET = 0,  /* no instruction set it: unspecified, so same */
    WNDL_RULE_SAME,       /* same value */
    WNDL_RULE_UNDEFINED,  /* not recoverable; for RA: the outermost frame */
    WNDL_RULE_OFFSET,     /* saved at CFA + offset */
    WNDL_RULE_VAL_OFFSET, /* is CFA + offset */
    WNDL_RULE_REGISTER,   /* is in register `reg` */
    WNDL_RULE_EXPR,       /* saved at the address that the expression
                           * computes */
    WNDL_RULE_VAL_EXPR,   /* the value that the expression computes */
};

/*
 * A rule. It has 16 bytes, because a row is on signal stacks, a few deep
 * (remember_state).
 */
struct wndl_cfi_rule {
    uint8_t kind; /* enum wndl_cfi_rule_kind */
    uint8_t reg;
    uint32_t expr_size;
    union {
        int64_t offset;
        const uint8_t *expr;
    };
};

/* Whether two rules are equal. */
static inline bool wndl_cfi_rule_equal(
    const struct wndl_cfi_rule *a, const struct wndl_cfi_rule *b)
{
    if (a->kind != b->kind)
        return false;
    switch ((enum wndl_cfi_rule_kind)a->kind) {
    case WNDL_RULE_REGISTER:
        return a->reg == b->reg && a->offset == b->offset;
    case WNDL_RULE_OFFSET:
    case WNDL_RULE_VAL_OFFSET:
        return a->offset == b->offset;
    case WNDL_RULE_EXPR:
    case WNDL_RULE_VAL_EXPR:
        return wndl_bytes_equal((struct wndl_bytes){a->expr, a->expr_size},
            (struct wndl_bytes){b->expr, b->expr_size});
    default:
        return true;
    }
}

/*
 * The rules for [start, end). `cfa` is a register plus offset (kind
 * WNDL_RULE_REGISTER with reg and offset), or VAL_EXPR, or UNSET if no
 * instruction set it.
 */
struct wndl_cfi_row {
    uint64_t start, end;
    struct wndl_cfi_rule cfa;
    struct wndl_cfi_rule regs[WNDL_CFI_REGS];
    uint8_t ra_reg;
    bool signal_frame;
    bool ra_signed; /* AArch64: the return address is signed */
};

/*
 * Finds the FDE that covers `pc`, by binary search of .eh_frame_hdr's table
 * (`hdr->addr` is its address). *fde_offset receives the offset of the FDE
 * record in `frame`. NOT_FOUND if the table has no entry at or below pc (the
 * caller still checks fde.end). UNSUPPORTED if the header has no sorted table
 * of a form that we search.
 */
enum wndl_status wndl_eh_frame_hdr_find(const struct wndl_cfi_section *hdr,
    const struct wndl_cfi_section *frame, uint64_t pc,
    uint64_t *fde_offset) WNDL_MUST_USE;

/* Reads the address of .eh_frame from .eh_frame_hdr (its eh_frame_ptr). */
enum wndl_status wndl_eh_frame_hdr_frame_addr(
    const struct wndl_cfi_section *hdr, uint64_t *addr) WNDL_MUST_USE;

/*
 * Reads the record at `offset`, and fills *fde if it is an FDE. NOT_FOUND for a
 * CIE and for the zero terminator. *next, unless NULL, receives the offset
 * after the record whenever its length could be read.
 */
enum wndl_status wndl_fde_parse(const struct wndl_cfi_section *frame,
    uint64_t offset, struct wndl_fde *fde, uint64_t *next,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Finds the FDE that covers `pc` by linear search, for sections without a
 * usable header.
 */
enum wndl_status wndl_fde_scan(const struct wndl_cfi_section *frame,
    uint64_t pc, struct wndl_fde *fde, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Computes the row that covers `pc`, by the programs of the CIE and the FDE.
 * fde->start <= pc < fde->end.
 */
enum wndl_status wndl_cfi_row_at(const struct wndl_cfi_section *frame,
    const struct wndl_fde *fde, uint64_t pc, struct wndl_cfi_row *row,
    struct wndl_error *err) WNDL_MUST_USE;

/* Calls visit for each row of the FDE in order until it returns false. */
enum wndl_status wndl_cfi_rows(const struct wndl_cfi_section *frame,
    const struct wndl_fde *fde,
    bool (*visit)(void *context, const struct wndl_cfi_row *row), void *context,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
