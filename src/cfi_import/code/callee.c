/* SPDX-License-Identifier: MIT */
/*
 * callee: registers that a called function keeps, though it need not, and what
 * it frees of the stack. Functions of hand-written assembly call each other by
 * rules of their own: x264's keep the caller's stack pointer in RCX.
 */
#include "cfi_import/code/flow_impl.h"
#include "cfi_import/code/insn.h"

enum { MOST_INSNS = 512, MOST_DEPTH = 2 };

/* Code from the function's start on, as far as it is read. */
struct sweep {
    struct wndl_code_flow *flow;
    uint64_t start, at;
    unsigned depth; /* of calls that are read, too */
    uint32_t links; /* AArch64: the registers with the return address */
    uint64_t least; /* branches lead up to there */
    uint32_t writes;
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

static void note_links(struct sweep *s, const struct wndl_insn *insn)
{
    const bool copies =
        insn->op == WNDL_INSN_MOVE && (s->links >> insn->from & 1) != 0;
    s->links &= ~insn->writes;
    if (copies)
        s->links |= 1u << insn->reg;
}

static void note_writes(struct sweep *s, const struct wndl_insn *insn)
{
    s->writes |= insn->writes;
    if (insn->moves != 0)
        s->writes |= 1u << insn->mem.base;
    note_links(s, insn);
    if (has_result(insn))
        s->writes |= 1u << insn->reg;
    if (insn->op == WNDL_INSN_EXCHANGE && insn->from < WNDL_INSN_REGS)
        s->writes |= 1u << insn->from;
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

static uint32_t keeps_of(
    struct wndl_code_flow *f, uint64_t svma, unsigned depth);

/* AArch64: functions may keep the return address in a register of their own. */
static enum verdict pass_call(struct sweep *s, const struct wndl_insn *insn)
{
    const uint8_t link = wndl_code_machine_of(s->flow->text->mode)->link;
    const uint32_t keeps = link == WNDL_INSN_NO_REG || s->depth == MOST_DEPTH
                               ? 0
                               : keeps_of(s->flow, insn->target, s->depth + 1);
    s->writes |= ~keeps;
    s->links &= keeps;
    return keeps == 0 ? IS_UNKNOWN : GOES_ON;
}

static enum verdict pass(struct sweep *s, const struct wndl_insn *insn)
{
    switch ((enum wndl_insn_op)insn->op) {
    case WNDL_INSN_BRANCH:
    case WNDL_INSN_JUMP:
        return stays_inside(s, insn) ? GOES_ON : IS_UNKNOWN;
    case WNDL_INSN_RETURN:
        return s->at >= s->least ? ENDS : GOES_ON;
    case WNDL_INSN_CALL:
        return pass_call(s, insn);
    case WNDL_INSN_JUMP_OTHER:
        if (insn->from < WNDL_INSN_REGS && (s->links >> insn->from & 1) != 0)
            return s->at >= s->least ? ENDS : GOES_ON;
        return IS_UNKNOWN;
    case WNDL_INSN_CALL_OTHER:
    case WNDL_INSN_ENTER:
    case WNDL_INSN_LEAVE:
    case WNDL_INSN_STOP:
        return IS_UNKNOWN;
    default:
        note_writes(s, insn);
        return GOES_ON;
    }
}

static uint32_t keeps_of(
    struct wndl_code_flow *f, uint64_t svma, unsigned depth)
{
    const uint8_t link = wndl_code_machine_of(f->text->mode)->link;
    const uint32_t links = link == WNDL_INSN_NO_REG ? 0 : 1u << link;
    struct sweep s = {.flow = f,
        .start = svma,
        .at = svma,
        .depth = depth,
        .links = links,
        .writes = links};
    struct wndl_insn insn;
    for (unsigned i = 0;
         i < MOST_INSNS && has_offset(f, s.at) && f->work < f->most_work; i++) {
        f->work++;
        if (!wndl_insn_decode(
                f->text->mode, code_at(f, offset_of(f, s.at)), s.at, &insn))
            return 0;
        s.at += insn.size;
        const enum verdict verdict = pass(&s, &insn);
        if (verdict != GOES_ON)
            return verdict == ENDS ? ~s.writes : 0;
    }
    return 0;
}

uint32_t wndl_code_callee_keeps(struct wndl_code_flow *f, uint64_t svma)
{
    return keeps_of(f, svma, 0);
}

/* ---- what it frees */

enum { MOST_OF_BODY = 4096, MOST_TAILS = 8, NOT_FOUND = -1 };

/*
 * The bytes that the first return in the function's code frees, by address. If
 * there is none up to where another function starts, *tail is where its last
 * jump leads.
 */
static int first_return(
    struct wndl_code_flow *f, uint64_t start, uint64_t *tail)
{
    struct wndl_insn insn;
    uint64_t at = start;
    *tail = 0;
    for (unsigned i = 0;
         i < MOST_OF_BODY && has_offset(f, at) && f->work < f->most_work; i++) {
        const uint32_t offset = offset_of(f, at);
        f->work++;
        if ((at != start &&
                (f->marks[offset] & (IS_CALLED | IS_NAMED | IS_START)) != 0) ||
            !wndl_insn_decode(f->text->mode, code_at(f, offset), at, &insn))
            break;
        if (insn.op == WNDL_INSN_RETURN)
            return insn.value >= 0 && insn.value < UINT16_MAX ? (int)insn.value
                                                              : NOT_FOUND;
        if (insn.op == WNDL_INSN_JUMP)
            *tail = insn.target;
        at += insn.size;
    }
    return NOT_FOUND;
}

uint16_t wndl_code_callee_frees(struct wndl_code_flow *f, uint64_t svma)
{
    uint64_t *known = wndl_map_put(&f->frees, svma), at = svma;
    int frees = NOT_FOUND;
    f->failed |= known == NULL;
    if (known == NULL)
        return 0;
    if (*known != 0)
        return (uint16_t)(*known - 1);
    for (unsigned i = 0; i < MOST_TAILS && frees == NOT_FOUND && at != 0; i++)
        frees = first_return(f, at, &at);
    *known = (uint64_t)(frees == NOT_FOUND ? 0 : frees) + 1;
    return (uint16_t)(*known - 1);
}
