/* SPDX-License-Identifier: MIT */
#include "unwind_tables/table/rows.h"

#include "unwind/table/a64_rows.h"
#include "unwind/table/format.h"

/*
 * Work for each byte of source. A common initial program may run for very many
 * functions. Real files need less than their own size.
 */
enum { WORK_PER_BYTE = 16, WORK_AT_LEAST = 16 * 1024 * 1024 };

/* The rows as they are read. */
struct reading {
    struct wndl_table_rows *rows;
    const struct wndl_arch *arch;
    struct wndl_arena *arena;
    struct wndl_map numbers;  /* of rules, by their 4 bytes */
    struct wndl_intern texts; /* of full rows */
    struct wndl_map full_at;  /* place of a text, by its id */
    struct wndl_buf text;     /* of one row */
    const struct wndl_table_function *function;
    uint64_t done; /* svma up to which there are rows */
    enum wndl_status status;
};

/* ---- rules */

static bool is_words(int64_t bytes, int64_t word, int64_t low, int64_t high)
{
    return bytes % word == 0 && bytes / word >= low && bytes / word <= high;
}

static bool plain_a64_rule(const struct wndl_cfi_row *row, uint32_t *rule)
{
    struct wndl_a64_plain plain;
    if (!wndl_a64_of_row(row, &plain))
        return false;
    *rule = (uint32_t)(plain.by_fp ? WNDL_TABLE_FP : WNDL_TABLE_SP) << 24 |
            wndl_a64_pack(&plain);
    return true;
}

/*
 * Whether the row is that of x86's calls: the return address is right below the
 * CFA, which SP is after the return; FP is saved or unchanged.
 */
static bool plain_x86_rule(const struct wndl_arch *arch,
    const struct wndl_cfi_row *row, uint32_t *rule)
{
    const struct wndl_cfi_rule *ra = &row->regs[arch->ra];
    const struct wndl_cfi_rule *fp = &row->regs[arch->fp];
    const int64_t word = arch->word;
    const bool by_sp = row->cfa.reg == arch->sp;
    uint32_t fp_words = 0;
    if (row->signal_frame || row->ra_reg != arch->ra ||
        ra->kind != WNDL_RULE_OFFSET || ra->offset != -word ||
        row->regs[arch->sp].kind != WNDL_RULE_UNSET ||
        row->cfa.kind != WNDL_RULE_REGISTER ||
        (!by_sp && row->cfa.reg != arch->fp) ||
        !is_words(row->cfa.offset, word, 1, UINT16_MAX))
        return false;
    if (fp->kind == WNDL_RULE_OFFSET && is_words(fp->offset, word, -128, -2))
        fp_words = (uint32_t)(-fp->offset / word);
    else if (fp->kind != WNDL_RULE_UNSET && fp->kind != WNDL_RULE_SAME)
        return false;
    *rule = wndl_table_rule(by_sp ? WNDL_TABLE_SP : WNDL_TABLE_FP, fp_words,
        (uint32_t)(row->cfa.offset / word));
    return true;
}

static bool plain_rule(const struct wndl_arch *arch,
    const struct wndl_cfi_row *row, uint32_t *rule)
{
    switch ((enum wndl_cfi_family)arch->family) {
    case WNDL_CFI_AARCH64:
        return plain_a64_rule(row, rule);
    case WNDL_CFI_ARM: /* callers need r4 to r11: all rows are full */
        return false;
    case WNDL_CFI_X86:
        break;
    }
    return plain_x86_rule(arch, row, rule);
}

static void write_rule(struct wndl_buf *out, const struct wndl_cfi_rule *rule)
{
    wndl_buf_byte(out, rule->kind);
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_UNSET:
    case WNDL_RULE_SAME:
    case WNDL_RULE_UNDEFINED:
        return;
    case WNDL_RULE_REGISTER:
        wndl_buf_byte(out, rule->reg);
        wndl_buf_sleb(out, rule->offset);
        return;
    case WNDL_RULE_OFFSET:
    case WNDL_RULE_VAL_OFFSET:
        wndl_buf_sleb(out, rule->offset);
        return;
    case WNDL_RULE_EXPR:
    case WNDL_RULE_VAL_EXPR:
        wndl_buf_uleb(out, rule->expr_size);
        wndl_buf_add(out, rule->expr, rule->expr_size);
        return;
    }
}

static void write_row(struct wndl_buf *out, const struct wndl_cfi_row *row)
{
    uint8_t count = 0;
    wndl_buf_clear(out);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        count += row->regs[i].kind != WNDL_RULE_UNSET;
    wndl_buf_byte(
        out, (uint8_t)((row->signal_frame ? WNDL_TABLE_IS_SIGNAL : 0) |
                       (row->ra_signed ? WNDL_TABLE_IS_SIGNED : 0)));
    wndl_buf_byte(out, row->ra_reg);
    wndl_buf_byte(out, count);
    write_rule(out, &row->cfa);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++) {
        if (row->regs[i].kind == WNDL_RULE_UNSET)
            continue;
        wndl_buf_byte(out, (uint8_t)i);
        write_rule(out, &row->regs[i]);
    }
}

/* False if memory is out, or for the reason in r->status. */
static bool full_rule(
    struct reading *r, const struct wndl_cfi_row *row, uint32_t *rule)
{
    uint32_t id;
    struct wndl_vec *full = &r->rows->full;
    write_row(&r->text, row);
    const struct wndl_bytes text = {r->text.data, r->text.size};
    const uint32_t before = wndl_intern_count(&r->texts);
    if (r->text.failed || !wndl_intern_add(&r->texts, text, &id))
        return false;
    uint64_t *at = wndl_map_put(&r->full_at, id);
    if (at == NULL)
        return false;
    if (id >= before) {
        *at = full->len;
        if (full->len + text.size > WNDL_TABLE_ROWS_MAX)
            r->status = WNDL_LIMIT;
        if (r->status != WNDL_OK || !wndl_vec_reserve(full, text.size))
            return false;
        __builtin_memcpy(
            (uint8_t *)full->data + full->len, text.data, text.size);
        full->len += text.size;
    }
    *rule = (uint32_t)WNDL_TABLE_ROW << 24 | (uint32_t)*at;
    return true;
}

/* The number of a rule, added if it is new. */
static bool number_of(struct reading *r, uint32_t rule, uint32_t *number)
{
    uint64_t *found = wndl_map_put(&r->numbers, rule);
    if (found == NULL)
        return false;
    if (*found == 0) {
        if (r->rows->rules.len == WNDL_TABLE_RULES_MAX)
            r->status = WNDL_LIMIT;
        if (r->status != WNDL_OK)
            return false;
        uint32_t *added = wndl_vec_push(&r->rows->rules);
        if (added == NULL || wndl_vec_push(&r->rows->counts) == NULL)
            return false;
        *added = rule;
        *found = r->rows->rules.len;
    }
    *number = (uint32_t)*found - 1;
    return true;
}

static bool rule_of(
    struct reading *r, const struct wndl_cfi_row *row, uint32_t *number)
{
    uint32_t rule;
    if (row->ra_reg == r->arch->ra &&
        row->regs[r->arch->ra].kind == WNDL_RULE_UNDEFINED)
        rule = wndl_table_rule(WNDL_TABLE_STOP, 0, 0);
    else if (!plain_rule(r->arch, row, &rule) && !full_rule(r, row, &rule))
        return false;
    return number_of(r, rule, number);
}

/* ---- runs */

static bool add_run(struct reading *r, uint64_t svma, uint32_t rule)
{
    struct wndl_vec *runs = &r->rows->runs;
    const struct wndl_table_run *last =
        runs->len == 0 ? NULL : wndl_vec_at(runs, runs->len - 1);
    if (svma - r->rows->base >= UINT32_MAX) {
        r->status = WNDL_LIMIT;
        return false;
    }
    if (last != NULL ? last->rule == rule : rule == 0)
        return true;
    struct wndl_table_run *run = wndl_vec_push(runs);
    if (run == NULL)
        return false;
    *run = (struct wndl_table_run){(uint32_t)(svma - r->rows->base), rule};
    ((uint32_t *)r->rows->counts.data)[rule]++;
    return true;
}

static bool end_before(struct reading *r, uint64_t start)
{
    return start <= r->done || add_run(r, r->done, 0);
}

static bool visit_row(void *context, const struct wndl_cfi_row *row)
{
    struct reading *r = context;
    const uint64_t end =
        row->end < r->function->end ? row->end : r->function->end;
    uint32_t number = 0;
    if (row->start >= end)
        return false;
    bool known = row->cfa.kind != WNDL_RULE_UNSET;
    bool kept = end_before(r, row->start) &&
                (!known || rule_of(r, row, &number)) &&
                add_run(r, row->start, number);
    if (!kept && r->status == WNDL_OK)
        r->status = WNDL_NOMEM;
    r->done = end;
    return kept;
}

static void read_function(struct reading *r,
    const struct wndl_table_source *source, const struct wndl_table_function *f,
    uint64_t *work)
{
    struct wndl_fde fde;
    const uint64_t size = source->frame.bytes.size;
    r->function = f;
    if (f->start - r->done > WNDL_TABLE_PADDING && !end_before(r, f->start)) {
        r->status = r->status == WNDL_OK ? WNDL_NOMEM : r->status;
        return;
    }
    r->done = f->start;
    enum wndl_status status =
        wndl_fde_parse(&source->frame, f->fde, &fde, NULL, NULL);
    *work += fde.cie.program.size + fde.program.size;
    if (*work > size * WORK_PER_BYTE + WORK_AT_LEAST)
        status = WNDL_LIMIT;
    if (status == WNDL_OK)
        status = wndl_cfi_rows(&source->frame, &fde, visit_row, r, NULL);
    r->rows->lost += status != WNDL_OK;
    /* Code after damage has no rule, even if it is as short as padding. */
    if (r->status == WNDL_OK && r->done < f->end) {
        if (!add_run(r, r->done, 0) && r->status == WNDL_OK)
            r->status = WNDL_NOMEM;
        r->done = f->end;
    }
}

static void read_all(struct reading *r, const struct wndl_table_source *source)
{
    uint64_t work = 0;
    const struct wndl_table_function *f = source->functions.data;
    for (size_t i = 0; i < source->functions.len && r->status == WNDL_OK; i++) {
        if (f[i].start < f[i].end)
            read_function(r, source, &f[i], &work);
    }
    if (r->status == WNDL_OK && !add_run(r, r->done, 0) && r->status == WNDL_OK)
        r->status = WNDL_NOMEM;
}

static bool prepare_rows(
    struct reading *r, const struct wndl_table_source *source)
{
    const uint64_t block = UINT64_C(1) << WNDL_TABLE_BLOCK_MAX;
    const struct wndl_table_function *first = source->functions.data;
    uint32_t none;
    wndl_vec_init(&r->rows->runs, r->arena, sizeof(struct wndl_table_run));
    wndl_vec_init(&r->rows->rules, r->arena, sizeof(uint32_t));
    wndl_vec_init(&r->rows->counts, r->arena, sizeof(uint32_t));
    wndl_vec_init(&r->rows->full, r->arena, 1);
    wndl_map_init(&r->numbers, r->arena);
    wndl_map_init(&r->full_at, r->arena);
    if (source->functions.len != 0) {
        r->rows->base = first->start & ~(block - 1);
        r->done = first->start;
    }
    return wndl_intern_init(&r->texts, r->arena) && number_of(r, 0, &none);
}

enum wndl_status wndl_table_rows_read(struct wndl_table_rows *rows,
    const struct wndl_table_source *source, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct reading r = {.rows = rows, .arch = source->arch, .arena = arena};
    *rows = (struct wndl_table_rows){0};
    wndl_buf_init(&r.text, arena->mem);
    if (prepare_rows(&r, source))
        read_all(&r, source);
    else
        r.status = WNDL_NOMEM;
    wndl_buf_free(&r.text);
    rows->lost += source->lost;
    if (r.status == WNDL_LIMIT)
        return wndl_fail(err, r.status,
            "has more code or more kinds of rows than an unwind table holds");
    if (r.status != WNDL_OK)
        return wndl_fail(err, r.status, "out of memory");
    return WNDL_OK;
}
