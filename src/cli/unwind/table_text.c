/* SPDX-License-Identifier: MIT */
#include "cli/unwind/table_text.h"

#include "analyze/binary/cfi_text.h"
#include "unwind_tables/table/table.h"

#include <elf.h>
#include <inttypes.h>

static void say_bytes(
    FILE *out, const char *what, size_t size, const struct wndl_table *table)
{
    fprintf(out, "%-10s %10zu bytes %5.1f %%\n", what, size,
        100.0 * (double)size / (double)table->bytes.size);
}

static const char *machine_name(uint16_t machine)
{
    if (machine == EM_X86_64)
        return "x86-64";
    if (machine == EM_AARCH64)
        return "AArch64";
    if (machine == EM_ARM)
        return "32-bit Arm";
    return machine == EM_386 ? "i386" : "unknown machine";
}

/* A part begins where the one before ends (unwind_tables/table/layout.c). */
void wndl_unwind_table_say(FILE *out, const struct wndl_table *t)
{
    uint32_t kinds[WNDL_TABLE_ROW + 1] = {0};
    for (uint32_t i = 0; i < t->rule_count; i++) {
        uint32_t rule;
        __builtin_memcpy(
            &rule, t->rules + (size_t)i * sizeof rule, sizeof rule);
        if (wndl_table_kind_of(rule) <= WNDL_TABLE_ROW)
            kinds[wndl_table_kind_of(rule)]++;
    }
    fprintf(out, "unwind table, version %d, %s, %s", WNDL_TABLE_VERSION,
        machine_name(t->machine),
        t->build_id.size == 0 ? "no build-id" : "build-id ");
    for (size_t i = 0; i < t->build_id.size; i++)
        fprintf(out, "%02x", t->build_id.data[i]);
    fprintf(out,
        "\n%" PRIu32 " functions, %" PRIu32 " rows, %" PRIu32
        " blocks of %u KiB from 0x%" PRIx64 "\n",
        t->function_count, t->row_count, t->block_count,
        1u << (t->block_shift - 10), t->base);
    fprintf(out,
        "%" PRIu32 " distinct rules: %" PRIu32 " by the stack pointer, %" PRIu32
        " by the frame pointer, %" PRIu32 " in full\n",
        t->rule_count, kinds[WNDL_TABLE_SP], kinds[WNDL_TABLE_FP],
        kinds[WNDL_TABLE_ROW]);
    say_bytes(out, "records", t->records_size, t);
    say_bytes(out, "index", (size_t)(t->dict - t->index), t);
    say_bytes(out, "dictionary", t->dict_size, t);
    say_bytes(out, "rules", (size_t)(t->rows - t->rules), t);
    say_bytes(out, "full rows", t->rows_size, t);
    say_bytes(out, "frame", WNDL_TABLE_HEADER + WNDL_TABLE_TAIL, t);
    say_bytes(out, "all", t->bytes.size, t);
}

/* Rows being listed: the last one began at `start`, with `rule`. */
struct dump {
    FILE *out;
    const struct wndl_table *table;
    struct wndl_buf text;
    uint64_t start;
    uint32_t rule;
};

static void say_row(struct dump *d, uint64_t end)
{
    struct wndl_cfi_row row;
    const uint16_t machine = d->table->machine;
    fprintf(d->out, "[0x%" PRIx64 " .. 0x%" PRIx64 "]: ", d->start, end - 1);
    switch (wndl_table_row(d->table, wndl_arch_of(machine), d->rule, &row)) {
    case WNDL_OK:
        wndl_buf_clear(&d->text);
        wndl_cfi_text_rule(&d->text, wndl_cfi_machine_of(machine), &row);
        fwrite(d->text.data, 1, d->text.size, d->out);
        fputc('\n', d->out);
        return;
    case WNDL_NOT_FOUND:
        fputs("no information\n", d->out);
        return;
    default:
        fputs("damaged\n", d->out);
    }
}

/* A block of one rule is looked up once. */
static void dump_block(struct dump *d, uint32_t block)
{
    const struct wndl_table *t = d->table;
    const uint64_t size = UINT64_C(1) << t->block_shift;
    const uint64_t first = t->base + block * size;
    const uint64_t step = wndl_table_block_is_uniform(t, block) ? size : 1;
    for (uint64_t at = first; at < first + size; at += step) {
        const uint32_t rule = wndl_table_find(t, at);
        if (rule == d->rule)
            continue;
        say_row(d, at);
        d->start = at;
        d->rule = rule;
    }
}

bool wndl_unwind_table_dump(FILE *out, const struct wndl_table *t)
{
    const uint64_t size = (uint64_t)t->block_count << t->block_shift;
    struct dump d = {.out = out, .table = t, .start = t->base};
    d.rule = wndl_table_find(t, t->base);
    wndl_buf_init(&d.text, wndl_mem_libc());
    for (uint32_t b = 0; b < t->block_count; b++)
        dump_block(&d, b);
    if (size != 0)
        say_row(&d, t->base + size);
    bool whole = !d.text.failed;
    wndl_buf_free(&d.text);
    return whole;
}
