/* SPDX-License-Identifier: MIT */
/*
 * jump_table: where an indirect jump leads, by the instructions before it:
 * compilers compare an index, load an entry of a table, and add its address.
 */
#ifndef WNDL_CFI_IMPORT_CODE_JUMP_TABLE_H
#define WNDL_CFI_IMPORT_CODE_JUMP_TABLE_H

#include "cfi_import/code/flow.h"

struct wndl_jump_table {
    struct wndl_bytes bytes; /* from the table's start on */
    uint64_t base;           /* added to entries of less than 8 bytes, */
    uint8_t shift;           /* after they were shifted by so many bits */
    bool is_signed;          /* those entries */
    bool subtracts;          /* the entry from the base */
    bool is_32;              /* i386: the sum has 4 bytes, too */
    uint64_t low, high;      /* the entries lead to [low, high) */
    uint32_t count;          /* of entries; UINT32_MAX: not known */
    uint8_t width;           /* bytes of an entry: 4 or 8; A64: 1 or 2, too */
};

/* The table of the jump at `offset`. False if it is not understood. */
bool wndl_jump_table_find(const struct wndl_code_flow *flow, uint64_t offset,
    struct wndl_jump_table *table);

/* The svma of an entry. False after the last one. */
bool wndl_jump_table_entry(
    const struct wndl_jump_table *table, uint32_t index, uint64_t *svma);

#endif
