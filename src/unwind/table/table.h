/* SPDX-License-Identifier: MIT */
/*
 * table: an unwind table in memory, as it is in its file, and its rule for an
 * address. It knows neither files nor how tables are made (src/unwind_tables).
 * Signal-safe: no allocation, no lock, no libc call but mem*.
 *
 * Specification: docs/formats/unwind-table.md.
 *
 * With any bytes, reads stay inside of them, and every answer is some rule.
 * Only wndl_table_verify() of src/unwind_tables shows whether it is the right
 * one.
 */
#ifndef WNDL_UNWIND_TABLE_TABLE_H
#define WNDL_UNWIND_TABLE_TABLE_H

#include "base/bytes.h"
#include "base/status.h"
#include "cfi/cfi.h"
#include "cfi/cfi_plain.h"
#include "unwind/core/arch.h"
#include "unwind/core/rule.h"
#include "unwind/table/chrome_v2.h"
#include "unwind/table/format.h"

/*
 * The instructions that count bits in lookups; each includes those above it.
 * They are detected when a table is opened.
 */
enum wndl_table_cpu {
    WNDL_TABLE_ANY_CPU,
    WNDL_TABLE_POPCNT, /* x86-64 from 2008 on */
    WNDL_TABLE_PDEP,   /* with BMI2, and fast */
};

/* An open table. It borrows its bytes. */
struct wndl_table {
    struct wndl_bytes bytes;
    uint64_t base; /* svma of the first block */
    uint32_t block_count, rule_count;
    uint32_t row_count, function_count; /* of its source */
    uint32_t dict_size, rows_size, records_size;
    const uint8_t *index, *dict, *rules, *rows, *records;
    const uint8_t *records_end;
    uint8_t block_shift, record_shift;
    uint8_t buckets; /* of a block */
    bool is_a64;
    uint32_t in_block; /* address bits within a block */
    enum wndl_table_cpu cpu;
    int32_t hot_less[WNDL_TABLE_HOT_CLASSES - 1]; /* wndl_table_hot_place() */
    uint16_t machine;
    uint32_t crc;
    struct wndl_bytes build_id;
    /* The other form (chrome.h), which has no blocks and rules. */
    bool is_chrome;
    uint64_t text; /* svma */
    struct wndl_chrome_v2 chrome;
};

/*
 * Opens a table. `bytes`, aligned to WNDL_TABLE_ALIGN, must outlive it.
 * TRUNCATED and MALFORMED if it is not a whole table, UNSUPPORTED for another
 * version. Only the header is read. The rest is not compared with the checksum;
 * each lookup checks what it reads.
 */
enum wndl_status wndl_table_open(struct wndl_bytes bytes,
    struct wndl_table *table, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same with the first bytes of a file, at least WNDL_TABLE_HEADER, and its
 * size, before the rest is read. `table` is not for lookups then.
 */
enum wndl_status wndl_table_open_head(struct wndl_bytes head,
    uint64_t file_size, struct wndl_table *table,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Whether the table is for the binary with this machine (EM_*) and build-id.
 * MALFORMED, with a reason, if it is for another.
 */
enum wndl_status wndl_table_is_for(const struct wndl_table *table,
    uint16_t machine, struct wndl_bytes build_id,
    struct wndl_error *err) WNDL_MUST_USE;

/* The rule for the code at `svma`; WNDL_TABLE_NONE (0) if there is none. */
uint32_t wndl_table_find(const struct wndl_table *table, uint64_t svma);

/* The same as on a lesser processor: `cpu` is at most the table's. */
uint32_t wndl_table_find_by(
    const struct wndl_table *table, uint64_t svma, enum wndl_table_cpu cpu);

/*
 * Whether all of a block, below block_count, has one rule, by the index alone.
 * False means not known.
 */
bool wndl_table_block_is_uniform(
    const struct wndl_table *table, uint32_t block);

static inline enum wndl_table_kind wndl_table_kind_of(uint32_t rule)
{
    return (enum wndl_table_kind)(rule >> 24);
}

/*
 * A rule as a row, for the slow step and for comparisons. In the row of a plain
 * rule all registers but CFA, RA, SP and FP are UNDEFINED, because the table
 * does not know them. NOT_FOUND for WNDL_TABLE_NONE, MALFORMED for an
 * impossible rule.
 */
enum wndl_status wndl_table_row(const struct wndl_table *table,
    const struct wndl_arch *arch, uint32_t rule,
    struct wndl_cfi_row *row) WNDL_MUST_USE;

/* The fields of a plain rule: words of FP, and of the CFA. */
static inline uint32_t wndl_table_fp_words(uint32_t rule)
{
    return rule >> 16 & 0xff;
}

static inline uint32_t wndl_table_cfa_words(uint32_t rule)
{
    return rule & 0xffff;
}

/*
 * Whether slots are below the return address's, within a signed byte of words.
 */
static inline bool wndl_table_is_sane(uint32_t rule)
{
    const uint32_t fp = wndl_table_fp_words(rule);
    return wndl_table_cfa_words(rule) != 0 && (fp == 0 || fp - 2 <= 126);
}

/* wndl_table_step_rule for any rule. */
struct wndl_rule wndl_table_rare_rule(
    const struct wndl_table *table, uint32_t rule, uint64_t pc);

_Static_assert(
    (int)WNDL_ENTRY_SP == WNDL_TABLE_SP && (int)WNDL_ENTRY_FP == WNDL_TABLE_FP,
    "plain rules' kinds are those of steps");

/*
 * The rule for a walk of this process at `pc`. Its kind is NO_FDE if there is
 * none. For a plain rule it is equal to wndl_rule_of_plain of its row.
 */
static inline struct wndl_rule wndl_table_step_rule(
    const struct wndl_table *table, uint32_t rule, uint64_t pc)
{
    const enum wndl_table_kind kind = wndl_table_kind_of(rule);
    const uint32_t fp = wndl_table_fp_words(rule);
    const uint32_t cfa = wndl_table_cfa_words(rule);
    if (WNDL_DWARF_PC != WNDL_DWARF_RA ||
        (kind != WNDL_TABLE_SP && kind != WNDL_TABLE_FP) ||
        !wndl_table_is_sane(rule))
        return wndl_table_rare_rule(table, rule, pc);
    return (struct wndl_rule){
        .kind = (uint8_t)(kind == WNDL_TABLE_SP && fp > cfa
                              ? WNDL_ENTRY_SP_LOW
                              : (enum wndl_entry_kind)kind),
        .fp_slot = (int8_t)(fp == 0 ? WNDL_SLOT_NONE : -(int)fp),
        .cfa = (uint16_t)cfa,
    };
}

#endif
