/* SPDX-License-Identifier: MIT */
/*
 * rule: a CFI row boiled down to the 4 bytes that the hot loop steps by.
 * Knows the shapes of x86 rows, of the word size it is built for; not where a
 * row comes from, nor how the stack is read.
 */
#ifndef WNDL_UNWIND_CORE_RULE_H
#define WNDL_UNWIND_CORE_RULE_H

#include "cfi/cfi.h"
#include "cfi/cfi_plain.h"

enum wndl_entry_kind {
    WNDL_ENTRY_EMPTY = 0, /* no rule */
    /* CFA = SP + cfa. Every slot is in [SP, CFA): needs no check. */
    WNDL_ENTRY_SP,
    WNDL_ENTRY_FP,        /* CFA = FP + cfa */
    WNDL_ENTRY_SP_LOW,    /* as SP, but FP was popped: its slot is below SP */
    WNDL_ENTRY_REALIGN,   /* CFA = *(FP + cfa), cfa signed */
    WNDL_ENTRY_SIGRETURN, /* a ucontext_t's gregs are at SP + cfa */
    WNDL_ENTRY_STOP,      /* RA undefined: the outermost frame */
    WNDL_ENTRY_FULL,      /* needs the full-register step */
    WNDL_ENTRY_NO_FDE,    /* in a module, no CFI: frame pointer */
    WNDL_ENTRY_NO_MODULE, /* in no module */
    WNDL_ENTRY_BAD,       /* damaged or unsupported CFI */
    WNDL_ENTRY_NO_CODE,   /* no address that code could have */
};

/* `fp_slot` of a row that leaves FP alone: the slot of the return address. */
enum { WNDL_SLOT_NONE = -1 };

struct wndl_rule {
    uint8_t kind;   /* enum wndl_entry_kind */
    int8_t fp_slot; /* in words: from the CFA; for REALIGN from FP */
    uint16_t cfa;   /* in words */
};

_Static_assert(sizeof(struct wndl_rule) == sizeof(int32_t), "one word");

/*
 * A rule in one word, as it is kept: the CFA in its lower half, the slot above
 * that, the kind on top. SP is the one kind whose word is negative, and of that
 * the upper half, with its sign, is the slot, which is negative too: a step of
 * the hot loop takes it apart with two instructions.
 */
static inline int32_t wndl_rule_bits(struct wndl_rule rule)
{
    uint32_t kind = rule.kind == WNDL_ENTRY_SP ? UINT8_MAX : rule.kind;
    return (
        int32_t)(rule.cfa | (uint32_t)(uint8_t)rule.fp_slot << 16 | kind << 24);
}

static inline struct wndl_rule wndl_rule_of_bits(int32_t bits)
{
    return (struct wndl_rule){
        .kind = bits < 0 ? WNDL_ENTRY_SP : (uint8_t)(bits >> 24),
        .fp_slot = (int8_t)(uint8_t)(bits >> 16),
        .cfa = (uint16_t)bits,
    };
}

/* The rule of `row` at `pc`, a looked-up address. */
struct wndl_rule wndl_rule_of_row(const struct wndl_cfi_row *row, uint64_t pc);

/* The same, of a row that is plain; such rules hold wherever the row does. */
struct wndl_rule wndl_rule_of_plain(const struct wndl_cfi_plain *row);

#endif
