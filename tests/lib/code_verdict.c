/* SPDX-License-Identifier: MIT */
#include "code_verdict.h"

enum { OP_DEREF = 0x06, OP_BREG0 = 0x70 };

static const struct wndl_code_machine *machine_of(
    const struct wndl_code_state *s)
{
    return wndl_code_machine_of((enum wndl_insn_mode)s->mode);
}

/* The value of a register by its number in DWARF. */
static struct wndl_code_value value_in(
    const struct wndl_code_state *s, unsigned dwarf)
{
    const struct wndl_code_machine *machine = machine_of(s);
    for (unsigned reg = 0; reg < machine->regs; reg++) {
        if (machine->dwarf[reg] == dwarf)
            return s->regs[reg];
    }
    return (struct wndl_code_value){0};
}

static struct wndl_code_value word_at(
    const struct wndl_code_state *s, struct wndl_code_value at)
{
    for (uint32_t i = 0; i < s->slots; i++) {
        if (wndl_code_same(s->slot[i].at, at))
            return s->slot[i].value;
    }
    return (struct wndl_code_value){0};
}

static enum wndl_code_verdict verdict_of(
    struct wndl_code_value found, struct wndl_code_value wanted)
{
    return wndl_code_same(found, wanted)     ? WNDL_CODE_EQUAL
           : found.from == WNDL_CODE_UNKNOWN ? WNDL_CODE_MISSING
                                             : WNDL_CODE_WRONG;
}

/* The value of the usual expressions: breg, deref, and a constant. */
static struct wndl_code_value value_of(
    const struct wndl_code_state *s, const struct wndl_cfi_rule *rule)
{
    enum { OP_PLUS_UCONST = 0x23 };
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){rule->expr, rule->expr_size}, 0, false);
    const unsigned op = wndl_cursor_u8(&c);
    if (op < OP_BREG0 || op >= OP_BREG0 + WNDL_INSN_REGS)
        return (struct wndl_code_value){0};
    struct wndl_code_value v = value_in(s, op - OP_BREG0);
    v.offset += (int32_t)wndl_cursor_sleb(&c);
    while (wndl_cursor_left(&c) != 0) {
        const uint8_t next = wndl_cursor_u8(&c);
        if (next == OP_DEREF)
            v = word_at(s, v);
        else if (next == OP_PLUS_UCONST)
            v.offset += (int32_t)wndl_cursor_uleb(&c);
        else
            return (struct wndl_code_value){0};
    }
    return v;
}

static enum wndl_code_verdict judge_cfa(
    const struct wndl_code_state *s, const struct wndl_cfi_rule *cfa)
{
    const struct wndl_code_value wanted = {WNDL_CODE_CFA, 0};
    struct wndl_code_value found = {0};
    if (cfa->kind == WNDL_RULE_REGISTER && cfa->reg < WNDL_INSN_REGS) {
        found = value_in(s, cfa->reg);
        found.offset += (int32_t)cfa->offset;
    } else if (cfa->kind == WNDL_RULE_VAL_EXPR) {
        found = value_of(s, cfa);
    }
    if (found.from != WNDL_CODE_CFA) /* nothing leads to the CFA from there */
        return WNDL_CODE_MISSING;
    return verdict_of(found, wanted);
}

static enum wndl_code_verdict judge_register(const struct wndl_code_state *s,
    const struct wndl_cfi_row *row, unsigned reg)
{
    const struct wndl_code_machine *machine = machine_of(s);
    const struct wndl_cfi_rule *rule =
        &row->regs[reg == WNDL_CODE_RA ? machine->dwarf_ra
                                       : machine->dwarf[reg]];
    const struct wndl_code_value wanted = {WNDL_CODE_ENTRY + reg, 0};
    const unsigned home = reg == WNDL_CODE_RA ? machine->link : reg;
    struct wndl_code_value place = {WNDL_CODE_CFA, (int32_t)rule->offset};
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_UNSET:
    case WNDL_RULE_SAME:
        return home != WNDL_INSN_NO_REG && wndl_code_same(s->regs[home], wanted)
                   ? WNDL_CODE_EQUAL
                   : WNDL_CODE_UNSAID;
    case WNDL_RULE_OFFSET:
        return verdict_of(word_at(s, place), wanted);
    case WNDL_RULE_EXPR:
        return verdict_of(word_at(s, value_of(s, rule)), wanted);
    case WNDL_RULE_REGISTER:
        return verdict_of(value_in(s, rule->reg), wanted);
    default:
        return WNDL_CODE_EQUAL;
    }
}

enum wndl_code_verdict wndl_code_judge(
    const struct wndl_code_state *s, const struct wndl_cfi_row *row)
{
    enum wndl_code_verdict worst = judge_cfa(s, &row->cfa);
    if (row->regs[machine_of(s)->dwarf_ra].kind == WNDL_RULE_UNDEFINED)
        return WNDL_CODE_EQUAL;
    const uint8_t compared[] = {
        WNDL_CODE_RA, machine_of(s)->fp, machine_of(s)->kept[0]};
    for (size_t i = 0; i < sizeof compared; i++) {
        const enum wndl_code_verdict v = judge_register(s, row, compared[i]);
        worst = v > worst ? v : worst;
    }
    return worst;
}
