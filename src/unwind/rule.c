/* SPDX-License-Identifier: MIT */
#include "unwind/rule.h"

/* DW_OP numbers, DWARF 5, 7.7.1. */
enum {
    OP_DEREF = 0x06,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_LIT3 = 0x33,
    OP_LIT15 = 0x3f,
    OP_BREG6 = 0x76,
    OP_BREG7 = 0x77,
    OP_BREG16 = 0x80,
};

static const struct wndl_entry needs_full_step = {.kind = WNDL_ENTRY_FULL};

/*
 * The linkers' CFA of a PLT: RSP + 8, and 8 more once the stub has pushed,
 * which by `pc & 15` it has from the byte `push_end` on.
 */
static bool plt_push_end(const struct wndl_cfi_rule *cfa, unsigned *push_end)
{
    const uint8_t *e = cfa->expr;
    if (cfa->expr_size != 11 || e[0] != OP_BREG7 || e[1] != 8 ||
        e[2] != OP_BREG16 || e[3] != 0 || e[4] != OP_LIT15 || e[5] != OP_AND ||
        e[6] < OP_LIT0 || e[6] > OP_LIT15 || e[7] != OP_GE || e[8] != OP_LIT3 ||
        e[9] != OP_SHL || e[10] != OP_PLUS)
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

/* The register is in the ucontext_t at RSP, `at` bytes in. */
static bool is_saved_in_ucontext(const struct wndl_cfi_rule *rule, int64_t at)
{
    int64_t offset;
    return rule->kind == WNDL_RULE_EXPR &&
           is_breg(rule, OP_BREG7, false, &offset) && offset == at;
}

/* The offsets are those of gregs[] in the kernel's struct ucontext. */
static bool is_sigreturn(const struct wndl_cfi_row *row)
{
    int64_t offset;
    return row->signal_frame && row->cfa.kind == WNDL_RULE_VAL_EXPR &&
           is_breg(&row->cfa, OP_BREG7, true, &offset) && offset == 160 &&
           is_saved_in_ucontext(&row->regs[WNDL_DWARF_RBP], 120) &&
           is_saved_in_ucontext(&row->regs[WNDL_DWARF_RBX], 128) &&
           is_saved_in_ucontext(&row->regs[WNDL_DWARF_RA], 168);
}

/* In words of 8 bytes; false when it is none or does not fit [low, high]. */
static bool words(int64_t bytes, int64_t low, int64_t high, int64_t *out)
{
    *out = bytes / 8;
    return bytes % 8 == 0 && *out >= low && *out <= high;
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
 * gcc's realigned frames: the CFA was pushed beside the saved RBP, to which
 * RBP points.
 */
static struct wndl_entry realign_entry(const struct wndl_cfi_row *row)
{
    const struct wndl_cfi_rule *fp = &row->regs[WNDL_DWARF_RBP];
    int64_t cfa_at, fp_at, cfa_n, fp_n;
    if (!is_breg(&row->cfa, OP_BREG6, true, &cfa_at) ||
        fp->kind != WNDL_RULE_EXPR || !is_breg(fp, OP_BREG6, false, &fp_at) ||
        !words(cfa_at, INT16_MIN, INT16_MAX, &cfa_n) ||
        !words(fp_at, INT8_MIN, INT8_MAX, &fp_n))
        return needs_full_step;
    return (struct wndl_entry){
        .cfa = (uint16_t)(int16_t)cfa_n,
        .fp_slot = (int8_t)fp_n,
        .kind = WNDL_ENTRY_REALIGN,
    };
}

static struct wndl_entry expression_entry(
    const struct wndl_cfi_row *row, uint64_t pc)
{
    unsigned push_end;
    if (!plt_push_end(&row->cfa, &push_end))
        return realign_entry(row);
    struct wndl_entry entry = {.kind = WNDL_ENTRY_SP};
    entry.cfa = (pc & 15) >= push_end ? 2 : 1;
    if (!fp_slot(&row->regs[WNDL_DWARF_RBP], &entry.fp_slot) ||
        entry.fp_slot != WNDL_SLOT_NONE)
        return needs_full_step;
    return entry;
}

static struct wndl_entry register_entry(const struct wndl_cfi_row *row)
{
    struct wndl_entry entry = {0};
    int64_t cfa;
    if (!fp_slot(&row->regs[WNDL_DWARF_RBP], &entry.fp_slot) ||
        !words(row->cfa.offset, 1, UINT16_MAX, &cfa))
        return needs_full_step;
    entry.cfa = (uint16_t)cfa;
    if (row->cfa.reg == WNDL_DWARF_RSP)
        entry.kind = -entry.fp_slot <= cfa ? WNDL_ENTRY_SP : WNDL_ENTRY_SP_LOW;
    else if (row->cfa.reg == WNDL_DWARF_RBP)
        entry.kind = WNDL_ENTRY_FP;
    else
        return needs_full_step;
    return entry;
}

struct wndl_entry wndl_entry_of_row(const struct wndl_cfi_row *row, uint64_t pc)
{
    const struct wndl_cfi_rule *ra = &row->regs[WNDL_DWARF_RA];
    if (row->ra_reg != WNDL_DWARF_RA)
        return needs_full_step;
    if (ra->kind == WNDL_RULE_UNDEFINED)
        return (struct wndl_entry){.kind = WNDL_ENTRY_STOP};
    if (is_sigreturn(row))
        return (struct wndl_entry){.kind = WNDL_ENTRY_SIGRETURN};
    /* The rest presume what calls do: RA at CFA - 8, SP = CFA after it. */
    if (row->signal_frame || ra->kind != WNDL_RULE_OFFSET || ra->offset != -8 ||
        row->regs[WNDL_DWARF_RSP].kind != WNDL_RULE_UNSET)
        return needs_full_step;
    if (row->cfa.kind == WNDL_RULE_VAL_EXPR)
        return expression_entry(row, pc);
    if (row->cfa.kind == WNDL_RULE_REGISTER)
        return register_entry(row);
    return needs_full_step;
}
