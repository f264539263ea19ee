/* SPDX-License-Identifier: MIT */
/*
 * rule: a CFI row boiled down to the 16 bytes that the hot loop steps by.
 * Knows the shapes of x86-64 rows; not where a row comes from, nor how the
 * stack is read.
 */
#ifndef WNDL_UNWIND_RULE_H
#define WNDL_UNWIND_RULE_H

#include "cfi/cfi.h"

/* DWARF register numbers (x86-64 psABI, figure 3.36). */
enum {
    WNDL_DWARF_RBX = 3,
    WNDL_DWARF_RBP = 6,
    WNDL_DWARF_RSP = 7,
    WNDL_DWARF_RA = 16,
};

enum wndl_entry_kind {
    WNDL_ENTRY_EMPTY = 0,
    /* CFA = SP + cfa * 8. Every slot is in [SP, CFA): needs no check. */
    WNDL_ENTRY_SP,
    WNDL_ENTRY_FP,        /* CFA = FP + cfa * 8 */
    WNDL_ENTRY_SP_LOW,    /* as SP, but FP was popped: its slot is below SP */
    WNDL_ENTRY_REALIGN,   /* CFA = *(FP + cfa * 8), cfa signed */
    WNDL_ENTRY_SIGRETURN, /* a ucontext_t is at SP */
    WNDL_ENTRY_STOP,      /* RA undefined: the outermost frame */
    WNDL_ENTRY_FULL,      /* needs the full-register step */
    WNDL_ENTRY_NO_FDE,    /* in a module, no CFI: frame pointer */
    WNDL_ENTRY_NO_MODULE, /* in no module */
    WNDL_ENTRY_BAD,       /* damaged or unsupported CFI */
};

/* `fp_slot` of a row that leaves FP alone: the slot of the return address. */
enum { WNDL_SLOT_NONE = -1 };

/*
 * The rule of one pc. `key` is the return address, or an interrupted pc + 1:
 * in both cases the rule is that of key - 1, so one key serves both.
 * Four entries to a cache line.
 */
struct wndl_entry {
    uint64_t key;
    uint32_t next;  /* byte offset of the entry its caller had last time */
    uint16_t cfa;   /* in 8 bytes */
    int8_t fp_slot; /* in 8 bytes: from the CFA; for REALIGN from FP */
    uint8_t kind;   /* enum wndl_entry_kind */
};

/* The rule of `row` at `pc`, a looked-up address; key and next are 0. */
struct wndl_entry wndl_entry_of_row(
    const struct wndl_cfi_row *row, uint64_t pc);

#endif
