/* SPDX-License-Identifier: MIT */
/*
 * exidx: unwinding tables of 32-bit Arm (.ARM.exidx and .ARM.extab): entries,
 * their instructions, and the one row of rules that an entry comes to. Takes
 * bytes and addresses, never an object file. It must not know code: rows hold
 * behind a function's prologue and before its epilogues (unwind/arm/rows.h).
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
 * What is in an entry of the generic model only its personality knows. Those of
 * GNU's languages, C++ for one, have instructions in it, behind the byte that
 * says how many more words there are of them; and all that compilers for Linux
 * write are of that form. So `code` is what they would be; it is empty where
 * they go beyond the table. There is a row of them where they are valid, pop
 * the return address and have nothing behind their end but ends.
 */
enum wndl_exidx_kind {
    WNDL_EXIDX_CANTUNWIND, /* nobody may unwind through it */
    WNDL_EXIDX_INLINE,     /* model 0, in the index itself */
    WNDL_EXIDX_COMPACT,    /* models 0 to 2, in .ARM.extab */
    WNDL_EXIDX_GENERIC,    /* has a personality of its own */
};

/* Instructions: bytes of words, each read from its highest byte on. */
struct wndl_exidx_code {
    const uint8_t *words;
    uint32_t next, end; /* bytes in that order; next <= end */
    bool big_endian;
};

struct wndl_exidx_entry {
    uint64_t start;  /* of the function; the next entry's is its end */
    uint8_t kind;    /* enum wndl_exidx_kind */
    uint8_t model;   /* of INLINE and COMPACT: 0 to 2 */
    uint64_t at;     /* address of what it says: its word, or in the table */
    uint64_t offset; /* of the entry in the index */
    struct wndl_exidx_code code;
};

size_t wndl_exidx_count(const struct wndl_exidx *exidx);

/* Where the function of entry `i` < count starts, without the Thumb bit. */
uint64_t wndl_exidx_start(const struct wndl_exidx *exidx, size_t i);

/* Of the last entry that starts at or below `pc`; NOT_FOUND. The index has to
 * be sorted, as linkers make it; any other finds some entry or none. */
enum wndl_status wndl_exidx_find(
    const struct wndl_exidx *exidx, uint64_t pc, size_t *i) WNDL_MUST_USE;

/* Entry `i` < count. MALFORMED when it points to no place in the table, or its
 * instructions go beyond it; UNSUPPORTED for a model that there is none of. */
enum wndl_status wndl_exidx_read(const struct wndl_exidx *exidx, size_t i,
    struct wndl_exidx_entry *entry, struct wndl_error *err) WNDL_MUST_USE;

enum wndl_exidx_op_kind {
    WNDL_EXIDX_MOVE, /* vsp += amount */
    WNDL_EXIDX_SET,  /* vsp = register `reg` */
    WNDL_EXIDX_POP,  /* core registers of `mask`, lowest first */
    WNDL_EXIDX_SKIP, /* pops `amount` bytes of registers that have no rules */
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
 * Takes the next instruction; behind the last one it is FINISH. TRUNCATED when
 * its bytes are not all there, MALFORMED for reserved ones and for moves of
 * 4 GiB and more.
 */
enum wndl_status wndl_exidx_next(
    struct wndl_exidx_code *code, struct wndl_exidx_op *op) WNDL_MUST_USE;

/*
 * What all of an entry's instructions come to, as a row of call frame
 * information with r14 as the return address. Its start and end are left 0.
 * NOT_FOUND for an entry that cannot be unwound (CANTUNWIND, or the instruction
 * that refuses), UNSUPPORTED for one of the generic model that is not of GNU's
 * form and for what no row says (a popped stack pointer), else as
 * wndl_exidx_next.
 */
enum wndl_status wndl_exidx_row(const struct wndl_exidx_entry *entry,
    struct wndl_cfi_row *row, struct wndl_error *err) WNDL_MUST_USE;

#endif
