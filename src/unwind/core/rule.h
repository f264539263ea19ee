/* SPDX-License-Identifier: MIT */
/*
 * rule: a CFI row reduced to the 4 bytes by which the hot loop steps. This file
 * knows the shapes of rows for the word size it is built for. It does not know
 * where a row comes from, nor how the stack is read.
 */
#ifndef WNDL_UNWIND_CORE_RULE_H
#define WNDL_UNWIND_CORE_RULE_H

#include "cfi/cfi.h"
#include "cfi/cfi_plain.h"

enum wndl_entry_kind {
    WNDL_ENTRY_EMPTY = 0, /* no rule */
    /* CFA = SP + cfa. All slots are in [SP, CFA) and need no check. */
    WNDL_ENTRY_SP,
    WNDL_ENTRY_FP,        /* CFA = FP + cfa */
    WNDL_ENTRY_SP_LOW,    /* as SP, but FP was popped: its slot is below SP */
    WNDL_ENTRY_REALIGN,   /* CFA = *(FP + cfa), cfa signed */
    WNDL_ENTRY_SIGRETURN, /* a ucontext_t's gregs are at SP + cfa */
    WNDL_ENTRY_STOP,      /* RA undefined: the outermost frame */
    WNDL_ENTRY_FULL,      /* needs the full-register step */
    WNDL_ENTRY_NO_FDE,    /* in a module, no CFI: frame pointer */
    WNDL_ENTRY_START,     /* the same, but an end if it is a return address: the
                           * entry of a coroutine */
    WNDL_ENTRY_NO_MODULE, /* in no module */
    WNDL_ENTRY_BAD,       /* damaged or unsupported CFI */
    WNDL_ENTRY_NO_CODE,   /* not a possible address of code */
    /*
     * NO_FDE of a return address from which the code has been followed
     * (slow/flow.h): to a return, where CFA = SP + cfa or FP + cfa, or to none.
     */
    WNDL_ENTRY_FLOW_SP,
    WNDL_ENTRY_FLOW_FP,
    WNDL_ENTRY_NO_FLOW,
};

/*
 * The `fp_slot` of a row that does not change FP: the slot of the return
 * address.
 */
enum {
    WNDL_SLOT_NONE = -1,
    WNDL_SLOT_LOST = 0, /* of a flow: FP is not known after it */
};

struct wndl_rule {
    uint8_t kind;   /* enum wndl_entry_kind */
    int8_t fp_slot; /* in words: from the CFA; for REALIGN from FP */
    uint16_t cfa;   /* in words */
};

_Static_assert(sizeof(struct wndl_rule) == sizeof(int32_t), "one word");

/*
 * A rule in one word, as the cache has it. The lower half is the CFA, the slot
 * is above it, and the kind is on top. Only the kind SP has a negative word,
 * whose upper half, with its sign, is the slot, which is negative, too. A step
 * of the hot loop thus unpacks it with two instructions.
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

/* The same for a plain row. Such a rule holds wherever the row does. */
struct wndl_rule wndl_rule_of_plain(const struct wndl_cfi_plain *row);

#endif
