/* SPDX-License-Identifier: MIT */
#include "unwind/core/rule.h"

#include "unwind/core/arch.h"

/* DW_OP numbers, DWARF 5, 7.7.1. */
enum {
    OP_DEREF = 0x06,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_LIT15 = 0x3f,
    OP_BREG0 = 0x70,
    OP_BREG_FP = OP_BREG0 + WNDL_DWARF_FP,
    OP_BREG_SP = OP_BREG0 + WNDL_DWARF_SP,
    OP_BREG_RA = OP_BREG0 + WNDL_DWARF_RA,
    OP_LIT_SHIFT = OP_LIT0 + (WNDL_WORD == 8 ? 3 : 2), /* log2 of a word */
};

static const struct wndl_rule needs_full_step = {.kind = WNDL_ENTRY_FULL};

/*
 * The CFA of a PLT by linkers: a word above SP, and one more after its push,
 * from byte `push_end` on by `pc & 15`.
 */
static bool plt_push_end(const struct wndl_cfi_rule *cfa, unsigned *push_end)
{
    const uint8_t *e = cfa->expr;
    if (cfa->expr_size != 11 || e[0] != OP_BREG_SP || e[1] != WNDL_WORD ||
        e[2] != OP_BREG_RA || e[3] != 0 || e[4] != OP_LIT15 || e[5] != OP_AND ||
        e[6] < OP_LIT0 || e[6] > OP_LIT15 || e[7] != OP_GE ||
        e[8] != OP_LIT_SHIFT || e[9] != OP_SHL || e[10] != OP_PLUS)
        return false;
    *push_end = e[6] - OP_LIT0;
    return true;
}

/* DW_OP_breg<reg> offset, optionally followed by DW_OP_deref. */
static bool is_breg(
    const struct wndl_cfi_rule *rule, uint8_t op, bool deref, int64_t *offset)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){rule->expr, rule->expr_size}, 0, false);
    if (wndl_cursor_u8(&c) != op)
        return false;
    *offset = wndl_cursor_sleb(&c);
    if (deref && wndl_cursor_u8(&c) != OP_DEREF)
        return false;
    return !c.failed && wndl_cursor_left(&c) == 0;
}

/* The register is saved at SP + `at`. */
static bool is_saved_at(const struct wndl_cfi_rule *rule, int64_t at)
{
    int64_t offset;
    return rule->kind == WNDL_RULE_EXPR &&
           is_breg(rule, OP_BREG_SP, false, &offset) && offset == at;
}

/* Converts to words; false if it is no multiple or not in [low, high]. */
static bool words(int64_t bytes, int64_t low, int64_t high, int64_t *out)
{
    *out = bytes / WNDL_WORD;
    return bytes % WNDL_WORD == 0 && *out >= low && *out <= high;
}

/* All registers are in the gregs of one ucontext_t, on the stack. */
static struct wndl_rule sigreturn_rule(const struct wndl_cfi_row *row)
{
    int64_t sp_at, cfa;
    if (!is_breg(&row->cfa, OP_BREG_SP, true, &sp_at))
        return needs_full_step;
    int64_t gregs = sp_at - WNDL_GREG_SP * WNDL_WORD;
    if (!words(gregs, 0, UINT16_MAX, &cfa) ||
        !is_saved_at(
            &row->regs[WNDL_DWARF_FP], gregs + WNDL_GREG_FP * WNDL_WORD) ||
        !is_saved_at(
            &row->regs[WNDL_DWARF_BX], gregs + WNDL_GREG_BX * WNDL_WORD) ||
        !is_saved_at(
            &row->regs[WNDL_DWARF_RA], gregs + WNDL_GREG_IP * WNDL_WORD))
        return needs_full_step;
    return (struct wndl_rule){
        .cfa = (uint16_t)cfa, .kind = WNDL_ENTRY_SIGRETURN};
}

static bool fp_slot(const struct wndl_cfi_rule *rule, int8_t *slot)
{
    int64_t n;
    if (rule->kind == WNDL_RULE_UNSET || rule->kind == WNDL_RULE_SAME) {
        *slot = WNDL_SLOT_NONE;
        return true;
    }
    if (rule->kind != WNDL_RULE_OFFSET || !words(rule->offset, -128, -2, &n))
        return false;
    *slot = (int8_t)n;
    return true;
}

/*
 * gcc's realigned frames: the CFA was pushed next to the saved FP, to which FP
 * points.
 */
static struct wndl_rule realign_rule(const struct wndl_cfi_row *row)
{
    const struct wndl_cfi_rule *fp = &row->regs[WNDL_DWARF_FP];
    int64_t cfa_at, fp_at, cfa_n, fp_n;
    if (!is_breg(&row->cfa, OP_BREG_FP, true, &cfa_at) ||
        fp->kind != WNDL_RULE_EXPR || !is_breg(fp, OP_BREG_FP, false, &fp_at) ||
        !words(cfa_at, INT16_MIN, INT16_MAX, &cfa_n) ||
        !words(fp_at, INT8_MIN, INT8_MAX, &fp_n))
        return needs_full_step;
    return (struct wndl_rule){
        .cfa = (uint16_t)(int16_t)cfa_n,
        .fp_slot = (int8_t)fp_n,
        .kind = WNDL_ENTRY_REALIGN,
    };
}

static struct wndl_rule expression_rule(
    const struct wndl_cfi_row *row, uint64_t pc)
{
    unsigned push_end;
    if (!plt_push_end(&row->cfa, &push_end))
        return realign_rule(row);
    struct wndl_rule rule = {.kind = WNDL_ENTRY_SP};
    rule.cfa = (pc & 15) >= push_end ? 2 : 1;
    if (!fp_slot(&row->regs[WNDL_DWARF_FP], &rule.fp_slot) ||
        rule.fp_slot != WNDL_SLOT_NONE)
        return needs_full_step;
    return rule;
}

/* CFA = reg + offset. */
static struct wndl_rule register_rule(uint64_t reg, int64_t offset, int8_t slot)
{
    struct wndl_rule rule = {.fp_slot = slot};
    int64_t cfa;
    if (!words(offset, 1, UINT16_MAX, &cfa))
        return needs_full_step;
    rule.cfa = (uint16_t)cfa;
    if (reg == WNDL_DWARF_SP)
        rule.kind = -slot <= cfa ? WNDL_ENTRY_SP : WNDL_ENTRY_SP_LOW;
    else if (reg == WNDL_DWARF_FP)
        rule.kind = WNDL_ENTRY_FP;
    else
        return needs_full_step;
    return rule;
}

struct wndl_rule wndl_rule_of_plain(const struct wndl_cfi_plain *row)
{
    int slot = row->fp_words == 0 ? WNDL_SLOT_NONE : -(int)row->fp_words;
    return register_rule(row->cfa_reg, row->cfa_offset, (int8_t)slot);
}

struct wndl_rule wndl_rule_of_row(const struct wndl_cfi_row *row, uint64_t pc)
{
    const struct wndl_cfi_rule *ra = &row->regs[WNDL_DWARF_RA];
    if (row->ra_reg != WNDL_DWARF_RA)
        return needs_full_step;
    if (ra->kind == WNDL_RULE_UNDEFINED)
        return (struct wndl_rule){.kind = WNDL_ENTRY_STOP};
    /* Where calls do not push, rows have many more shapes. */
    if (WNDL_DWARF_PC != WNDL_DWARF_RA)
        return needs_full_step;
    if (row->signal_frame && row->cfa.kind == WNDL_RULE_VAL_EXPR)
        return sigreturn_rule(row);
    /* The rest assumes the effect of calls: RA right below the CFA, SP =
     * CFA. */
    if (row->signal_frame || ra->kind != WNDL_RULE_OFFSET ||
        ra->offset != -WNDL_WORD ||
        row->regs[WNDL_DWARF_SP].kind != WNDL_RULE_UNSET)
        return needs_full_step;
    if (row->cfa.kind == WNDL_RULE_VAL_EXPR)
        return expression_rule(row, pc);
    int8_t slot;
    if (row->cfa.kind == WNDL_RULE_REGISTER &&
        fp_slot(&row->regs[WNDL_DWARF_FP], &slot))
        return register_rule(row->cfa.reg, row->cfa.offset, slot);
    return needs_full_step;
}
