/* SPDX-License-Identifier: MIT */
/* row: rules of a table in the form that walks use. */
#include "unwind/table/a64_rows.h"
#include "unwind/table/chrome.h"

static void read_rule(struct wndl_cursor *c, struct wndl_cfi_rule *rule)
{
    *rule = (struct wndl_cfi_rule){.kind = wndl_cursor_u8(c)};
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_SAME:
    case WNDL_RULE_UNDEFINED:
        return;
    case WNDL_RULE_REGISTER:
        rule->reg = wndl_cursor_u8(c);
        if (rule->reg >= WNDL_CFI_REGS)
            wndl_cursor_fail(c);
        rule->offset = wndl_cursor_sleb(c);
        return;
    case WNDL_RULE_OFFSET:
    case WNDL_RULE_VAL_OFFSET:
        rule->offset = wndl_cursor_sleb(c);
        return;
    case WNDL_RULE_EXPR:
    case WNDL_RULE_VAL_EXPR:
        rule->expr_size = (uint32_t)wndl_cursor_uleb(c);
        rule->expr = wndl_cursor_take(c, rule->expr_size);
        return;
    case WNDL_RULE_UNSET:
        break;
    }
    wndl_cursor_fail(c);
}

/* Reads a full row. */
static enum wndl_status read_row(
    const struct wndl_table *t, uint32_t offset, struct wndl_cfi_row *row)
{
    const struct wndl_bytes rows = {t->rows, t->rows_size};
    struct wndl_cursor c = wndl_cursor_at(rows, offset, false);
    const uint8_t what = wndl_cursor_u8(&c);
    row->signal_frame = (what & WNDL_TABLE_IS_SIGNAL) != 0;
    row->ra_signed = (what & WNDL_TABLE_IS_SIGNED) != 0;
    row->ra_reg = wndl_cursor_u8(&c);
    uint32_t count = wndl_cursor_u8(&c);
    read_rule(&c, &row->cfa);
    while (count-- > 0 && !c.failed) {
        const uint8_t reg = wndl_cursor_u8(&c);
        if (reg >= WNDL_CFI_REGS)
            return WNDL_MALFORMED;
        read_rule(&c, &row->regs[reg]);
    }
    return c.failed || row->ra_reg >= WNDL_CFI_REGS ? WNDL_MALFORMED : WNDL_OK;
}

/* Clears all registers but those of the table. */
static void forget_others(
    struct wndl_cfi_row *row, const struct wndl_arch *arch)
{
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++) {
        if (i != arch->fp && i != arch->sp && i != arch->ra)
            row->regs[i].kind = WNDL_RULE_UNDEFINED;
    }
}

static void plain_row(
    const struct wndl_arch *arch, uint32_t rule, struct wndl_cfi_row *row)
{
    const int64_t word = arch->word;
    row->cfa.kind = WNDL_RULE_REGISTER;
    row->cfa.reg =
        wndl_table_kind_of(rule) == WNDL_TABLE_SP ? arch->sp : arch->fp;
    row->cfa.offset = word * wndl_table_cfa_words(rule);
    row->regs[arch->ra].kind = WNDL_RULE_OFFSET;
    row->regs[arch->ra].offset = -word;
    if (wndl_table_fp_words(rule) != 0) {
        row->regs[arch->fp].kind = WNDL_RULE_OFFSET;
        row->regs[arch->fp].offset = -word * wndl_table_fp_words(rule);
    }
}

/* False if the rule is impossible. */
static bool read_plain(
    const struct wndl_arch *arch, uint32_t rule, struct wndl_cfi_row *row)
{
    struct wndl_a64_plain plain;
    forget_others(row, arch);
    if (arch->family == WNDL_CFI_ARM)
        return false;
    if (arch->family != WNDL_CFI_AARCH64) {
        plain_row(arch, rule, row);
        return wndl_table_is_sane(rule);
    }
    const bool by_fp = wndl_table_kind_of(rule) == WNDL_TABLE_FP;
    if (!wndl_a64_unpack(rule, by_fp, &plain))
        return false;
    wndl_a64_to_row(&plain, row);
    return true;
}

enum wndl_status wndl_table_row(const struct wndl_table *table,
    const struct wndl_arch *arch, uint32_t rule, struct wndl_cfi_row *row)
{
    *row = (struct wndl_cfi_row){.ra_reg = arch->ra};
    switch (wndl_table_kind_of(rule)) {
    case WNDL_TABLE_NONE:
        return rule == 0 ? WNDL_NOT_FOUND : WNDL_MALFORMED;
    case WNDL_TABLE_SP:
    case WNDL_TABLE_FP:
        return read_plain(arch, rule, row) ? WNDL_OK : WNDL_MALFORMED;
    case WNDL_TABLE_STOP:
        forget_others(row, arch);
        row->cfa.kind = WNDL_RULE_REGISTER;
        row->cfa.reg = arch->sp;
        row->regs[arch->ra].kind = WNDL_RULE_UNDEFINED;
        return WNDL_OK;
    case WNDL_TABLE_ROW:
        return read_row(table, rule & (WNDL_TABLE_ROWS_MAX - 1), row);
    case WNDL_TABLE_CHROME:
        return wndl_table_chrome_row(table, rule, row);
    }
    return WNDL_MALFORMED;
}

struct wndl_rule wndl_table_rare_rule(
    const struct wndl_table *table, uint32_t rule, uint64_t pc)
{
    struct wndl_cfi_row row;
    switch (wndl_table_row(table, WNDL_ARCH_HERE, rule, &row)) {
    case WNDL_OK:
        return wndl_rule_of_row(&row, pc);
    case WNDL_NOT_FOUND:
        return (struct wndl_rule){.kind = WNDL_ENTRY_NO_FDE};
    default:
        return (struct wndl_rule){.kind = WNDL_ENTRY_BAD};
    }
}
