/* SPDX-License-Identifier: MIT */
/*
 * exidx: unwinding tables of 32-bit Arm (.ARM.exidx and .ARM.extab): entries,
 * their instructions, and the one row of rules that an entry amounts to. It
 * takes bytes and addresses, never an object file. It must not know code: rows
 * hold after a function's prologue and before its epilogues
 * (unwind/arm/rows.h).
 *
 * Signal-safe: no allocation, no lock, no recursion, no libc call but mem*.
 *
 * Specification: Exception Handling ABI for the Arm Architecture (ehabi32):
 * sections 6 (index table entries), 7 (personalities), 10.3 (instructions; 9.3
 * of earlier editions).
 */
#ifndef WNDL_UNWIND_ARM_EXIDX_H
#define WNDL_UNWIND_ARM_EXIDX_H

#include "base/bytes.h"
#include "base/status.h"
#include "cfi/cfi.h"

/* Core registers, which have the same numbers in DWARF. */
enum {
    WNDL_ARM_R4 = 4,
    WNDL_ARM_SP = 13,
    WNDL_ARM_LR = 14,
    WNDL_ARM_PC = 15,
    WNDL_ARM_REGS = 16,
};

/* The sections as they are linked or mapped. `table` may be empty. */
struct wndl_exidx {
    struct wndl_bytes index, table;
    uint64_t index_addr, table_addr;
    bool big_endian;
};

/*
 * The form of an entry. An entry of the generic model is known to its
 * personality only. Those of GNU's languages, such as C++, contain
 * instructions, after the byte with the number of words that follow; and all
 * that compilers for Linux write are of that form. So `code` is what the
 * instructions would be; it is empty if they would exceed the table. They give
 * a row if they are valid, pop the return address, and are followed by ends
 * only.
 */
enum wndl_exidx_kind {
    WNDL_EXIDX_CANTUNWIND, /* must not be unwound */
    WNDL_EXIDX_INLINE,     /* model 0, in the index itself */
    WNDL_EXIDX_COMPACT,    /* models 0 to 2, in .ARM.extab */
    WNDL_EXIDX_GENERIC,    /* has a personality of its own */
};

/* Instructions: the bytes of words, each read from its highest byte on. */
struct wndl_exidx_code {
    const uint8_t *words;
    uint32_t next, end; /* bytes in that order; next <= end */
    bool big_endian;
};

struct wndl_exidx_entry {
    uint64_t start;  /* of the function, which ends where the next begins */
    uint8_t kind;    /* enum wndl_exidx_kind */
    uint8_t model;   /* of INLINE and COMPACT: 0 to 2 */
    uint64_t at;     /* address of its contents: its own word, or in the
                      * table */
    uint64_t offset; /* of the entry in the index */
    struct wndl_exidx_code code;
};

size_t wndl_exidx_count(const struct wndl_exidx *exidx);

/* The start of the function of entry `i` < count, without the Thumb bit. */
uint64_t wndl_exidx_start(const struct wndl_exidx *exidx, size_t i);

/*
 * Finds the last entry that starts at or below `pc`; NOT_FOUND. The index must
 * be sorted, as linkers make it. In any other, some entry or none is found.
 */
enum wndl_status wndl_exidx_find(
    const struct wndl_exidx *exidx, uint64_t pc, size_t *i) WNDL_MUST_USE;

/*
 * Reads entry `i` < count. MALFORMED if it points outside of the table, or its
 * instructions exceed that; UNSUPPORTED for an unknown model.
 */
enum wndl_status wndl_exidx_read(const struct wndl_exidx *exidx, size_t i,
    struct wndl_exidx_entry *entry, struct wndl_error *err) WNDL_MUST_USE;

enum wndl_exidx_op_kind {
    WNDL_EXIDX_MOVE,    /* vsp += amount */
    WNDL_EXIDX_SET,     /* vsp = register `reg` */
    WNDL_EXIDX_POP,     /* core registers of `mask`, lowest first */
    WNDL_EXIDX_SKIP,    /* pops `amount` bytes of registers without rules */
    WNDL_EXIDX_NOTHING, /* changes no register */
    WNDL_EXIDX_REFUSE,  /* refuse to unwind */
    WNDL_EXIDX_FINISH,
};

struct wndl_exidx_op {
    uint8_t kind; /* enum wndl_exidx_op_kind */
    uint8_t reg;
    uint16_t mask;
    int64_t amount;
};

/*
 * Decodes the next instruction. After the last one it is FINISH. TRUNCATED if
 * some of its bytes are missing, MALFORMED for reserved ones and for moves of 4
 * GiB and more.
 */
enum wndl_status wndl_exidx_next(
    struct wndl_exidx_code *code, struct wndl_exidx_op *op) WNDL_MUST_USE;

/*
 * The effect of all of an entry's instructions, as a row of call frame
 * information with r14 as the return address. Its start and end stay 0.
 * NOT_FOUND for an entry that cannot be unwound (CANTUNWIND, or the instruction
 * that refuses). UNSUPPORTED for one of the generic model that is not of GNU's
 * form, and for effects that no row can express (a popped stack pointer). Else
 * as wndl_exidx_next.
 */
enum wndl_status wndl_exidx_row(const struct wndl_exidx_entry *entry,
    struct wndl_cfi_row *row, struct wndl_error *err) WNDL_MUST_USE;

#endif
