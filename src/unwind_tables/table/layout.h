/* SPDX-License-Identifier: MIT */
/*
 * layout: arranges rows as the blocks of an unwind table. It makes the rows of
 * each block, the dictionary of phrases, each block's record and the index of
 * all.
 *
 * Specification: docs/formats/unwind-table.md.
 */
#ifndef WNDL_UNWIND_TABLES_TABLE_LAYOUT_H
#define WNDL_UNWIND_TABLES_TABLE_LAYOUT_H

#include "base/buf.h"
#include "unwind/table/format.h"
#include "unwind_tables/table/phrases.h"
#include "unwind_tables/table/rows.h"

/* Memory is the arena's. */
struct wndl_table_layout {
    unsigned block_shift, record_shift;
    uint32_t block_count;
    struct wndl_vec rules; /* uint32_t, as numbered in the table */
    struct wndl_vec dict, records, index;         /* uint8_t */
    int32_t hot_ends[WNDL_TABLE_HOT_CLASSES - 1]; /* names */
    uint32_t phrase_count;
    uint32_t uniform_blocks, plain_blocks; /* with one rule; without phrases */
};

/* False if memory is out. */
bool wndl_table_lay_out(struct wndl_table_layout *layout,
    const struct wndl_table_rows *rows, uint16_t machine,
    struct wndl_arena *arena);

#endif
