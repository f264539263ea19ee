/* SPDX-License-Identifier: MIT */
/*
 * table: makes the unwind table of a binary, and compares one with its binary.
 * Look-ups need unwind/table/table.h only.
 */
#ifndef WNDL_UNWIND_TABLES_TABLE_TABLE_H
#define WNDL_UNWIND_TABLES_TABLE_TABLE_H

#include "base/buf.h"
#include "obj/core/object.h"
#include "unwind/table/table.h"

/* The source of a table, and the use of its bytes. */
struct wndl_table_stats {
    const char *source;       /* as in struct wndl_cfi_source */
    uint64_t source_size;     /* bytes of it, and of .eh_frame_hdr */
    uint64_t functions, rows; /* rows: including those without information */
    uint64_t lost;            /* damaged records or incomplete functions */
    uint32_t phrases, uniform_blocks, plain_blocks;
};

/*
 * Appends the table of `object` to `out`, which is empty. NOT_FOUND if it has
 * no call frame information, or is a symbol file without build-id; UNSUPPORTED,
 * LIMIT, NOMEM. Damaged records are counted as lost; their code has no rules.
 */
enum wndl_status wndl_table_build(struct wndl_object *object,
    struct wndl_buf *out, struct wndl_table_stats *stats,
    struct wndl_error *err) WNDL_MUST_USE;

/* MALFORMED if the bytes do not match the checksum. */
enum wndl_status wndl_table_check(
    const struct wndl_table *table, struct wndl_error *err) WNDL_MUST_USE;

/* The result of comparing a table with its binary. */
struct wndl_table_verdict {
    uint64_t rows, looked_up; /* rows of the binary; addresses in them */
    uint64_t wrong;           /* addresses with a wrong rule */
    uint64_t first_wrong;     /* svma */
};

/*
 * Looks up the first, middle and last address of each row of the binary's call
 * frame information, in both ways of looking up, and does the same for code
 * without it. The table must be for this binary (wndl_table_is_for) and
 * undamaged: else MALFORMED.
 */
enum wndl_status wndl_table_verify(const struct wndl_table *table,
    struct wndl_object *object, struct wndl_table_verdict *verdict,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
