/* SPDX-License-Identifier: MIT */
#include "unwind/table/a64_rows.h"

enum { WORD = 8, CFA_UNIT = 16, CFA_MAX = 0xfff, SLOT_MAX = 0x3ff };

static bool is_kept(const struct wndl_cfi_rule *rule)
{
    return rule->kind == WNDL_RULE_UNSET || rule->kind == WNDL_RULE_SAME;
}

/* In words below the CFA. */
static bool is_saved(const struct wndl_cfi_rule *rule, int64_t *words)
{
    *words = -rule->offset / WORD;
    return rule->kind == WNDL_RULE_OFFSET && rule->offset % WORD == 0 &&
           rule->offset < 0 && rule->offset >= -SLOT_MAX * WORD;
}

static bool find_slot(
    const struct wndl_cfi_row *row, struct wndl_a64_plain *plain)
{
    const struct wndl_cfi_rule *fp = &row->regs[WNDL_A64_FP];
    const struct wndl_cfi_rule *lr = &row->regs[WNDL_A64_LR];
    int64_t lr_at, fp_at;
    if (is_kept(lr))
        return is_kept(fp);
    if (!is_saved(lr, &lr_at))
        return false;
    plain->lone = is_kept(fp);
    if (plain->lone)
        fp_at = lr_at;
    else if (!is_saved(fp, &fp_at) || fp_at != lr_at + 1)
        return false;
    plain->slot = (uint16_t)fp_at;
    return true;
}

bool wndl_a64_of_row(
    const struct wndl_cfi_row *row, struct wndl_a64_plain *plain)
{
    const struct wndl_cfi_rule *cfa = &row->cfa;
    *plain = (struct wndl_a64_plain){.signed_ = row->ra_signed};
    if (row->signal_frame || row->ra_reg != WNDL_A64_LR ||
        row->regs[WNDL_A64_SP].kind != WNDL_RULE_UNSET ||
        cfa->kind != WNDL_RULE_REGISTER ||
        (cfa->reg != WNDL_A64_SP && cfa->reg != WNDL_A64_FP) ||
        cfa->offset % CFA_UNIT != 0 || cfa->offset < 0 ||
        cfa->offset > CFA_MAX * CFA_UNIT)
        return false;
    plain->by_fp = cfa->reg == WNDL_A64_FP;
    plain->cfa = (uint16_t)(cfa->offset / CFA_UNIT);
    return find_slot(row, plain);
}

void wndl_a64_to_row(
    const struct wndl_a64_plain *plain, struct wndl_cfi_row *row)
{
    const int64_t at = -(int64_t)WORD * plain->slot;
    struct wndl_cfi_rule *fp = &row->regs[WNDL_A64_FP];
    struct wndl_cfi_rule *lr = &row->regs[WNDL_A64_LR];
    row->cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER,
        .reg = plain->by_fp ? WNDL_A64_FP : WNDL_A64_SP,
        .offset = (int64_t)CFA_UNIT * plain->cfa,
    };
    row->ra_reg = WNDL_A64_LR;
    row->ra_signed = plain->signed_;
    if (plain->slot == 0)
        return;
    lr->kind = WNDL_RULE_OFFSET;
    lr->offset = plain->lone ? at : at + WORD;
    if (plain->lone)
        return;
    fp->kind = WNDL_RULE_OFFSET;
    fp->offset = at;
}
