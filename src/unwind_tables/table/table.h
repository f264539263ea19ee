/* SPDX-License-Identifier: MIT */
/*
 * table: makes the unwind table of a binary, and holds one against the binary
 * it is of. Who only looks things up in tables needs unwind/table/table.h
 * alone.
 */
#ifndef WNDL_UNWIND_TABLES_TABLE_TABLE_H
#define WNDL_UNWIND_TABLES_TABLE_TABLE_H

#include "base/buf.h"
#include "obj/core/object.h"
#include "unwind/table/table.h"

/* What a table was made from, and what takes its bytes. */
struct wndl_table_stats {
    const char *source;       /* as in struct wndl_cfi_source */
    uint64_t source_size;     /* bytes of it, and of .eh_frame_hdr */
    uint64_t functions, rows; /* rows: with those of no information */
    uint64_t lost;            /* records or functions that are not whole */
    uint32_t phrases, uniform_blocks, plain_blocks;
};

/*
 * Writes the table of `object` to the end of `out`, which is empty. NOT_FOUND
 * when it has no call frame information, or as a symbol file no build-id,
 * UNSUPPORTED, LIMIT, NOMEM. Damaged records are counted as lost; their code
 * has no rules.
 */
enum wndl_status wndl_table_build(struct wndl_object *object,
    struct wndl_buf *out, struct wndl_table_stats *stats,
    struct wndl_error *err) WNDL_MUST_USE;

/* MALFORMED when the bytes are not those that the checksum is of. */
enum wndl_status wndl_table_check(
    const struct wndl_table *table, struct wndl_error *err) WNDL_MUST_USE;

/* What holding a table against its binary came to. */
struct wndl_table_verdict {
    uint64_t rows, looked_up; /* rows of the binary; addresses in them */
    uint64_t wrong;           /* of those */
    uint64_t first_wrong;     /* svma */
};

/*
 * Looks up the first, middle and last address of each row that the binary's
 * call frame information has, by both ways of looking up, and the same of code
 * that it says nothing of. A table has to be for this binary
 * (wndl_table_is_for) and undamaged: else MALFORMED.
 */
enum wndl_status wndl_table_verify(const struct wndl_table *table,
    struct wndl_object *object, struct wndl_table_verdict *verdict,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
