/* SPDX-License-Identifier: MIT */
/*
 * state: what is known before an instruction about registers and stack slots,
 * relative to the function's entry. It knows instructions, but not where they
 * lead.
 */
#ifndef WNDL_CFI_IMPORT_CODE_STATE_H
#define WNDL_CFI_IMPORT_CODE_STATE_H

#include "cfi/cfi.h"
#include "cfi_import/code/machine.h"

enum {
    WNDL_CODE_SLOTS = 24,
    WNDL_CODE_RA =
        WNDL_INSN_REGS, /* the return address, where registers are numbered */
};

/*
 * What a value counts from. Unknown; the CFA; 0, a number; a register's value
 * at the entry, of those that the caller keeps; or an anchor, a place whose
 * distance from the CFA is not known, such as SP after it was aligned.
 */
enum {
    WNDL_CODE_UNKNOWN = 0,
    WNDL_CODE_CFA = 1,
    WNDL_CODE_NUMBER = 2,
    WNDL_CODE_ENTRY = 3,   /* + number of the register, or WNDL_CODE_RA */
    WNDL_CODE_ANCHOR = 64, /* + offset of the instruction that made it */
};

struct wndl_code_value {
    uint32_t from;
    int32_t offset;
};

struct wndl_code_slot {
    struct wndl_code_value at, value;
};

/*
 * Invariants: slots are sorted by place, a word each, do not overlap, and hold
 * known values; those after `slots` are zero.
 */
struct wndl_code_state {
    uint8_t mode;      /* enum wndl_insn_mode */
    uint8_t joined;    /* whether SP is unknown because two ways disagree */
    uint8_t is_start;  /* whether a process or thread starts here: no caller */
    uint8_t is_signed; /* whether the return address is (AArch64) */
    uint8_t past_syscall; /* whether the kernel was called before */
    uint32_t slots;
    struct wndl_code_value regs[WNDL_INSN_REGS];
    struct wndl_code_slot slot[WNDL_CODE_SLOTS];
};

static inline bool wndl_code_same(
    struct wndl_code_value a, struct wndl_code_value b)
{
    return a.from == b.from && a.offset == b.offset;
}

/* The value of SP. */
static inline struct wndl_code_value wndl_code_state_sp(
    const struct wndl_code_state *state)
{
    return state
        ->regs[wndl_code_machine_of((enum wndl_insn_mode)state->mode)->sp];
}

/* The state at a function's entry. */
void wndl_code_state_enter(
    struct wndl_code_state *state, enum wndl_insn_mode mode);

/* The bytes that identify a state, with the registers that its machine has. */
struct wndl_bytes wndl_code_state_pack(const struct wndl_code_state *state,
    uint8_t room[sizeof(struct wndl_code_state)]);
void wndl_code_state_load(
    struct wndl_code_state *state, struct wndl_bytes bytes);

/* SP of a packed state. */
struct wndl_code_value wndl_code_packed_sp(struct wndl_bytes bytes);

/*
 * Applies an instruction that does not return, at `offset` of its code. False
 * if nothing changed.
 */
bool wndl_code_state_step(struct wndl_code_state *state,
    const struct wndl_insn *insn, uint32_t offset);

/* Keeps of `state` what holds in `other`, too. */
void wndl_code_state_join(
    struct wndl_code_state *state, const struct wndl_code_state *other);

/*
 * SP is equal to another register. False if that changes nothing: its distance
 * from the CFA is not known, or SP's is the same.
 */
bool wndl_code_state_equal_sp(struct wndl_code_state *state, unsigned reg);

/* Whether the return address is only in a register, which a callee may not
 * keep (AArch64). */
bool wndl_code_state_in_register(const struct wndl_code_state *state);

/* Whether a register other than SP leads to the CFA in both. */
bool wndl_code_state_share_base(
    const struct wndl_code_state *a, const struct wndl_code_state *b);

/* Whether SP is where a return finds its address; AArch64: whether it is where
 * it was at the entry, and a register has the return address. */
bool wndl_code_state_may_return(const struct wndl_code_state *state);

/*
 * The rules of a state: of CFA, return address, and the registers that callees
 * keep. Expressions are written into `room`. False if there is none.
 */
enum {
    WNDL_CODE_EXPR = 24,
    WNDL_CODE_ROOM = (WNDL_CODE_MOST_KEPT + 2) * WNDL_CODE_EXPR,
};
bool wndl_code_state_row(const struct wndl_code_state *state,
    struct wndl_cfi_row *row, uint8_t room[WNDL_CODE_ROOM]);

/* The state where a process starts, which has no caller. */
void wndl_code_state_start(
    struct wndl_code_state *state, enum wndl_insn_mode mode);

#endif
