/* SPDX-License-Identifier: MIT */
/*
 * callee: registers that a called function keeps, though it need not. Functions
 * of hand-written assembly call each other by rules of their own: x264's keep
 * the caller's stack pointer in RCX.
 */
#include "cfi_import/code/flow_impl.h"
#include "cfi_import/code/insn.h"

enum { MOST_INSNS = 512, ALL = 0xffff };

/* Code from the function's start on, as far as it is read. */
struct sweep {
    uint64_t start, at;
    uint64_t least; /* branches lead up to there */
    uint16_t writes;
};

static bool has_result(const struct wndl_insn *insn)
{
    switch ((enum wndl_insn_op)insn->op) {
    case WNDL_INSN_MOVE:
    case WNDL_INSN_LOAD:
    case WNDL_INSN_LOAD_SIGNED:
    case WNDL_INSN_ADDRESS:
    case WNDL_INSN_ADD:
    case WNDL_INSN_ADD_REG:
    case WNDL_INSN_ALIGN:
    case WNDL_INSN_EXCHANGE:
    case WNDL_INSN_POP:
        return insn->reg < WNDL_INSN_REGS;
    default:
        return false;
    }
}

static void note_writes(struct sweep *s, const struct wndl_insn *insn)
{
    s->writes |= insn->writes;
    if (has_result(insn))
        s->writes |= (uint16_t)(1u << insn->reg);
    if (insn->op == WNDL_INSN_EXCHANGE && insn->from < WNDL_INSN_REGS)
        s->writes |= (uint16_t)(1u << insn->from);
}

/* Whether it leads to code that is read anyway. */
static bool stays_inside(struct sweep *s, const struct wndl_insn *insn)
{
    if (insn->target < s->start)
        return false;
    if (insn->target > s->least)
        s->least = insn->target;
    return true;
}

enum verdict { GOES_ON, ENDS, IS_UNKNOWN };

static enum verdict pass(struct sweep *s, const struct wndl_insn *insn)
{
    switch ((enum wndl_insn_op)insn->op) {
    case WNDL_INSN_BRANCH:
    case WNDL_INSN_JUMP:
        return stays_inside(s, insn) ? GOES_ON : IS_UNKNOWN;
    case WNDL_INSN_RETURN:
        return s->at >= s->least ? ENDS : GOES_ON;
    case WNDL_INSN_CALL:
    case WNDL_INSN_CALL_OTHER:
    case WNDL_INSN_JUMP_OTHER:
    case WNDL_INSN_ENTER:
    case WNDL_INSN_LEAVE:
    case WNDL_INSN_STOP:
        return IS_UNKNOWN;
    default:
        note_writes(s, insn);
        return GOES_ON;
    }
}

uint16_t wndl_code_callee_keeps(struct wndl_code_flow *f, uint64_t svma)
{
    struct sweep s = {.start = svma, .at = svma};
    struct wndl_insn insn;
    for (unsigned i = 0; i < MOST_INSNS && has_offset(f, s.at); i++) {
        f->work++;
        if (!wndl_insn_decode(code_at(f, offset_of(f, s.at)), s.at, &insn))
            return 0;
        s.at += insn.size;
        const enum verdict verdict = pass(&s, &insn);
        if (verdict != GOES_ON)
            return verdict == ENDS ? (uint16_t)(ALL & ~s.writes) : 0;
    }
    return 0;
}
