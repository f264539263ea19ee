/* SPDX-License-Identifier: MIT */
#include "unwind/slow/scan.h"

#include "unwind/space/call.h"

enum { WORDS = 64 };

/*
 * Whether code at `at` only jumps to an address that it loads: a stub of a
 * procedure linkage table.
 */
static bool jumps_on(const struct wndl_space *space, uint64_t at)
{
    enum { ENDBR = 4, BND = 0xf2, JMP = 0xff };
    uint8_t code[ENDBR + 3];
    if (!wndl_code_read(space, at, code, sizeof code))
        return false;
    const uint8_t *c = code;
    if (c[0] == 0xf3 && c[1] == 0x0f && c[2] == 0x1e)
        c += ENDBR;
    c += c[0] == BND;
    return c[0] == JMP && (c[1] >> 3 & 7) == 4;
}

/* A function with an FDE does not make a call by being called. */
static bool may_come_here(
    const struct wndl_space *space, const struct wndl_call *call)
{
    struct wndl_code code;
    if (call->target == 0)
        return true;
    enum wndl_code_kind kind =
        wndl_code_find(space->remote, call->target, &code);
    if (kind == WNDL_CODE_ROW)
        return jumps_on(space, call->target);
    return kind == WNDL_CODE_NO_FDE;
}

/* False only if the caller's caller, as far as SP shows it, is impossible. */
static bool leads_on(const struct wndl_space *space, uint64_t ra, uint64_t sp)
{
    struct wndl_code code;
    struct wndl_call call;
    uint64_t next;
    const struct wndl_arch *arch = space->arch;
    if (wndl_code_find(space->remote, ra - 1, &code) != WNDL_CODE_ROW)
        return true;
    const struct wndl_cfi_row *row = &code.row;
    const struct wndl_cfi_rule *rule = &row->regs[arch->ra];
    if (row->cfa.kind != WNDL_RULE_REGISTER || row->cfa.reg != arch->sp ||
        rule->kind != WNDL_RULE_OFFSET)
        return true;
    uint64_t at = sp + (uint64_t)row->cfa.offset + (uint64_t)rule->offset;
    return wndl_space_word(space, at, &next) &&
           wndl_call_before(space, next, &call);
}

static bool is_aligned(const struct wndl_space *space, uint64_t sp)
{
    return space->arch->word == 4 || sp % 16 == 0;
}

/* Whether a frame pointer may be `fp` if SP is `sp`. */
static bool is_link(const struct wndl_space *space, uint64_t fp, uint64_t sp)
{
    uint64_t saved;
    return fp >= sp && fp % space->arch->word == 0 &&
           wndl_space_word(space, fp, &saved);
}

/* A frame pointer that is used otherwise is mostly the first one pushed. */
static uint64_t fp_of_caller(const struct wndl_space *space,
    const struct wndl_fp_state *state, uint64_t ra_at)
{
    const uint64_t word = space->arch->word, sp = ra_at + word;
    uint64_t pushed;
    if (is_link(space, state->fp, sp) || ra_at == state->sp ||
        !wndl_space_word(space, ra_at - word, &pushed) ||
        !is_link(space, pushed, sp))
        return state->fp;
    return pushed;
}

bool wndl_scan_step(const struct wndl_space *space, struct wndl_fp_state *state)
{
    const uint64_t word = space->arch->word;
    uint64_t at = state->sp;
    for (unsigned i = 0; i < WORDS; i++, at += word) {
        struct wndl_call call;
        uint64_t ra;
        if (!wndl_space_word(space, at, &ra))
            return false;
        if (!is_aligned(space, at + word) ||
            !wndl_call_before(space, ra, &call) ||
            !may_come_here(space, &call) || !leads_on(space, ra, at + word))
            continue;
        state->fp = fp_of_caller(space, state, at);
        state->pc = ra;
        state->sp = at + word;
        state->interrupted = false;
        return true;
    }
    return false;
}
