/* SPDX-License-Identifier: MIT */
#include "unwind_tables/chrome/chrome_v2.h"

enum { WORD = 4 };

/* The output so far, after which vsp is `at` bytes above the CFA. */
struct writing {
    struct wndl_buf *out;
    int64_t at;
};

/* vsp += amount. One instruction, up to 0x200 two of them, else ULEB128. */
static bool add_move(struct wndl_buf *out, int64_t amount)
{
    const int64_t size = amount < 0 ? -amount : amount;
    const uint8_t op = amount < 0 ? 0x40 : 0;
    if (amount == 0)
        return true;
    if (amount % WORD != 0 || amount < -0x200 || amount > UINT32_MAX)
        return false;
    if (size > 0x200) {
        wndl_buf_byte(out, 0xb2);
        wndl_buf_uleb(out, (uint64_t)(size - 0x204) / WORD);
        return true;
    }
    const int64_t first = size > 0x100 ? 0x100 : size;
    wndl_buf_byte(out, (uint8_t)(op | (first - WORD) / WORD));
    if (size > 0x100)
        wndl_buf_byte(out, (uint8_t)(op | (size - 0x100 - WORD) / WORD));
    return true;
}

static bool move_to(struct writing *w, int64_t to)
{
    const bool said = add_move(w->out, to - w->at);
    w->at = to;
    return said;
}

/* r4 up to some register, and lr, in one byte; else by mask. */
static void add_pop(struct wndl_buf *out, uint16_t mask)
{
    const uint32_t low = (mask & ~(1u << WNDL_ARM_LR)) >> WNDL_ARM_R4;
    const bool has_lr = (mask >> WNDL_ARM_LR & 1) != 0;
    if (has_lr && low != 0 && low <= 0xff && (low & (low + 1)) == 0) {
        wndl_buf_byte(out, (uint8_t)(0xa8 | (__builtin_popcount(low) - 1)));
        return;
    }
    wndl_buf_byte(out, (uint8_t)(0x80 | mask >> 12));
    wndl_buf_byte(out, (uint8_t)(mask >> WNDL_ARM_R4));
}

static bool is_saved(const struct wndl_cfi_row *row, unsigned reg)
{
    return row != NULL && row->regs[reg].kind == WNDL_RULE_OFFSET;
}

/*
 * The register with the lowest slot at or above `from`, of those saved since;
 * WNDL_ARM_REGS: none.
 */
static unsigned lowest(const struct wndl_cfi_row *before,
    const struct wndl_cfi_row *row, int64_t from)
{
    unsigned found = WNDL_ARM_REGS;
    for (unsigned reg = WNDL_ARM_R4; reg < WNDL_ARM_PC; reg++) {
        if (reg != WNDL_ARM_SP && is_saved(row, reg) &&
            !is_saved(before, reg) && row->regs[reg].offset >= from &&
            (found == WNDL_ARM_REGS ||
                row->regs[reg].offset < row->regs[found].offset))
            found = reg;
    }
    return found;
}

/* Registers side by side in order are popped together. */
static bool add_pops(struct writing *w, const struct wndl_cfi_row *before,
    const struct wndl_cfi_row *row)
{
    int64_t from = INT64_MIN;
    unsigned reg = lowest(before, row, from);
    while (reg != WNDL_ARM_REGS) {
        uint16_t mask = 0;
        if (!move_to(w, row->regs[reg].offset))
            return false;
        for (unsigned last = 0; reg != WNDL_ARM_REGS && reg > last &&
                                row->regs[reg].offset == w->at;
             last = reg, reg = lowest(before, row, from)) {
            mask |= (uint16_t)(1u << reg);
            w->at += WORD;
            from = w->at;
        }
        add_pop(w->out, mask);
    }
    return true;
}

/* 32 bits, so that differences do not overflow. */
static bool is_near(const struct wndl_cfi_rule *rule)
{
    return rule->offset >= -(int64_t)UINT32_MAX && rule->offset <= UINT32_MAX;
}

static bool is_plain(const struct wndl_cfi_row *row)
{
    if (row->cfa.kind != WNDL_RULE_REGISTER || !is_near(&row->cfa) ||
        (row->cfa.reg != WNDL_ARM_SP &&
            (row->cfa.reg < WNDL_ARM_R4 || row->cfa.reg > WNDL_ARM_LR)))
        return false;
    for (unsigned reg = WNDL_ARM_R4; reg <= WNDL_ARM_LR; reg++) {
        const uint8_t kind = row->regs[reg].kind;
        if (reg != WNDL_ARM_SP && reg != 12 && kind != WNDL_RULE_OFFSET &&
            kind != WNDL_RULE_UNSET && kind != WNDL_RULE_SAME)
            return false;
        if (kind == WNDL_RULE_OFFSET && !is_near(&row->regs[reg]))
            return false;
    }
    return row->ra_reg == WNDL_ARM_LR;
}

/* The registers saved by `before` must have the same slots. */
static bool keeps_slots(
    const struct wndl_cfi_row *before, const struct wndl_cfi_row *row)
{
    for (unsigned reg = WNDL_ARM_R4; reg <= WNDL_ARM_LR; reg++) {
        if (is_saved(before, reg) &&
            (!is_saved(row, reg) ||
                row->regs[reg].offset != before->regs[reg].offset))
            return false;
    }
    return true;
}

bool wndl_chrome_v2_encode_step(struct wndl_buf *out,
    const struct wndl_cfi_row *before, const struct wndl_cfi_row *row)
{
    const bool by_sp = row->cfa.reg == WNDL_ARM_SP;
    const bool from_sp = before == NULL || before->cfa.reg == WNDL_ARM_SP;
    const size_t start = out->size;
    if (!is_plain(row) || !keeps_slots(before, row))
        return false;
    struct writing w = {out, -row->cfa.offset};
    /* The undoing of `before` starts with its register, which must be valid. */
    if (!from_sp && row->cfa.reg == before->cfa.reg &&
        row->cfa.offset != before->cfa.offset)
        return false;
    if (!from_sp && lowest(before, row, INT64_MIN) == WNDL_ARM_REGS)
        return true;
    if (!by_sp)
        wndl_buf_byte(out, (uint8_t)(0x90 | row->cfa.reg));
    bool said = add_pops(&w, before, row);
    if (said && from_sp)
        said = move_to(&w, before == NULL ? 0 : -before->cfa.offset);
    if (!said)
        out->size = start;
    return said;
}
