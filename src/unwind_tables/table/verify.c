/* SPDX-License-Identifier: MIT */
/*
 * verify: expands every row once more, by src/cfi only, and compares it with
 * the table's rule register by register. It trusts nothing that made the table.
 */
#include "rec/crc32c.h"
#include "unwind_tables/table/rows.h"
#include "unwind_tables/table/table.h"

enum wndl_status wndl_table_check(
    const struct wndl_table *table, struct wndl_error *err)
{
    const size_t at = WNDL_TABLE_CRC_AT + sizeof(uint32_t);
    const struct wndl_bytes rest =
        wndl_bytes_slice(table->bytes, at, table->bytes.size - at);
    if (wndl_crc32c(0, rest.data, rest.size) != table->crc)
        return wndl_fail(err, WNDL_MALFORMED,
            "a damaged unwind table: its checksum is wrong");
    return WNDL_OK;
}

struct verifying {
    const struct wndl_table *table;
    const struct wndl_table_source *source;
    const struct wndl_table_function *function;
    struct wndl_table_verdict *verdict;
    uint64_t done; /* svma; rows before it are done */
};

/* ---- comparison of rules */

/* A register without a rule is unchanged. */
static struct wndl_cfi_rule stated_rule(const struct wndl_cfi_rule *rule)
{
    struct wndl_cfi_rule r = *rule;
    if (r.kind == WNDL_RULE_UNSET)
        r.kind = WNDL_RULE_SAME;
    return r;
}

/* Registers that the table lacks are not compared. */
static bool same_row(const struct wndl_cfi_row *table,
    const struct wndl_cfi_row *truth, const struct wndl_arch *arch)
{
    if (table->ra_reg != truth->ra_reg)
        return false;
    if (truth->regs[arch->ra].kind == WNDL_RULE_UNDEFINED)
        return table->regs[arch->ra].kind == WNDL_RULE_UNDEFINED;
    if (table->signal_frame != truth->signal_frame ||
        table->ra_signed != truth->ra_signed ||
        !wndl_cfi_rule_equal(&table->cfa, &truth->cfa))
        return false;
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++) {
        const struct wndl_cfi_rule a = stated_rule(&table->regs[i]);
        const struct wndl_cfi_rule b = stated_rule(&truth->regs[i]);
        const bool known = i == arch->fp || i == arch->sp || i == arch->ra ||
                           a.kind != WNDL_RULE_UNDEFINED;
        if (known && !wndl_cfi_rule_equal(&a, &b))
            return false;
    }
    return true;
}

/* NULL: code without rules. */
static bool rule_agrees(
    const struct verifying *v, uint64_t svma, const struct wndl_cfi_row *truth)
{
    struct wndl_cfi_row row;
    const uint32_t rule = wndl_table_find(v->table, svma);
    for (enum wndl_table_cpu cpu = WNDL_TABLE_ANY_CPU; cpu < v->table->cpu;
         cpu++)
        if (rule != wndl_table_find_by(v->table, svma, cpu))
            return false;
    enum wndl_status status =
        wndl_table_row(v->table, v->source->arch, rule, &row);
    if (truth == NULL)
        return status == WNDL_NOT_FOUND;
    return status == WNDL_OK && same_row(&row, truth, v->source->arch);
}

/* ---- comparison of look-ups */

static void look_up(
    const struct verifying *v, uint64_t svma, const struct wndl_cfi_row *truth)
{
    v->verdict->looked_up++;
    if (rule_agrees(v, svma, truth))
        return;
    if (v->verdict->wrong++ == 0)
        v->verdict->first_wrong = svma;
}

/* [start, end) is not empty. */
static void look_up_all(const struct verifying *v, uint64_t start, uint64_t end,
    const struct wndl_cfi_row *truth)
{
    look_up(v, start, truth);
    look_up(v, start + (end - start) / 2, truth);
    look_up(v, end - 1, truth);
}

static bool visit_row(void *context, const struct wndl_cfi_row *row)
{
    struct verifying *v = context;
    const uint64_t end =
        row->end < v->function->end ? row->end : v->function->end;
    if (row->start >= end)
        return false;
    const bool known = row->cfa.kind != WNDL_RULE_UNSET;
    look_up_all(v, row->start, end, known ? row : NULL);
    v->verdict->rows++;
    v->done = end;
    return true;
}

/* Padding may have the rule of the code before it. */
static void verify_function(
    struct verifying *v, const struct wndl_table_function *f)
{
    struct wndl_fde fde;
    const struct wndl_cfi_section *frame = &v->source->frame;
    if (f->start - v->done > WNDL_TABLE_PADDING)
        look_up_all(v, v->done, f->start, NULL);
    v->function = f;
    v->done = f->start;
    enum wndl_status status = wndl_fde_parse(frame, f->fde, &fde, NULL, NULL);
    if (status == WNDL_OK)
        status = wndl_cfi_rows(frame, &fde, visit_row, v, NULL);
    /* Damaged: the code after it has no rules. */
    if (v->done < f->end)
        look_up_all(v, v->done, f->end, NULL);
    v->done = f->end;
}

static void verify_all(struct verifying *v)
{
    const struct wndl_table_function *f = v->source->functions.data;
    const size_t count = v->source->functions.len;
    if (count == 0)
        return;
    v->done = f[0].start;
    if (v->done != 0)
        look_up(v, v->done - 1, NULL);
    for (size_t i = 0; i < count; i++) {
        if (f[i].start < f[i].end)
            verify_function(v, &f[i]);
    }
    look_up(v, v->done, NULL);
    look_up(v, v->done + (UINT64_C(1) << 40), NULL);
}

enum wndl_status wndl_table_verify(const struct wndl_table *table,
    struct wndl_object *object, struct wndl_table_verdict *verdict,
    struct wndl_error *err)
{
    struct wndl_arena arena;
    struct wndl_table_source source;
    struct verifying v = {table, &source, NULL, verdict, 0};
    *verdict = (struct wndl_table_verdict){0};
    enum wndl_status status = wndl_table_is_for(
        table, wndl_object_machine(object), wndl_object_build_id(object), err);
    if (status == WNDL_OK)
        status = wndl_table_check(table, err);
    if (status != WNDL_OK)
        return status;
    wndl_arena_init(&arena, wndl_mem_libc());
    status = wndl_table_source_open(&source, object, &arena, err);
    if (status == WNDL_OK)
        verify_all(&v);
    wndl_arena_free(&arena);
    return status;
}
