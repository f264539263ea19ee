/* SPDX-License-Identifier: MIT */
/*
 * rows: all call frame information of one binary as the rows of an unwind
 * table: the start of each rule, and its number. It must not know the layout of
 * tables.
 */
#ifndef WNDL_UNWIND_TABLES_TABLE_ROWS_H
#define WNDL_UNWIND_TABLES_TABLE_ROWS_H

#include "base/buf.h"
#include "base/intern.h"
#include "cfi/cfi.h"
#include "obj/core/object.h"
#include "unwind/core/arch.h"

/* A function: code at [start, end), svma, and its record. */
struct wndl_table_function {
    uint64_t start, end; /* at most the start of the next */
    uint64_t fde;
};

/* The functions of a section of call frame information, sorted. */
struct wndl_table_source {
    const struct wndl_arch *arch;
    const char *name; /* as in struct wndl_cfi_source */
    uint64_t size;    /* bytes of it */
    struct wndl_cfi_section frame;
    struct wndl_vec functions; /* struct wndl_table_function */
    uint64_t lost;             /* unreadable records */
};

/* A rule from `start` on, up to the next row. */
struct wndl_table_run {
    uint32_t start; /* bytes from `base` */
    uint32_t rule;  /* number: index into `rules` */
};

/*
 * The rows. Invariants: runs are sorted, neighbours have different rules, the
 * last one has rule 0, which means no information.
 */
struct wndl_table_rows {
    uint64_t base;          /* svma, a multiple of the largest block */
    struct wndl_vec runs;   /* struct wndl_table_run */
    struct wndl_vec rules;  /* uint32_t, as in the file */
    struct wndl_vec full;   /* uint8_t: the full rows */
    struct wndl_vec counts; /* uint32_t: runs of each rule */
    uint64_t lost;          /* functions with incomplete rows */
};

/*
 * The maximum size of padding. Such code between functions has the rule of the
 * code before it.
 */
enum { WNDL_TABLE_PADDING = 15 };

/*
 * Lists the functions with call frame information (cfi_import/open.h).
 * NOT_FOUND if there is none, or if it has no function: such a table would
 * replace the binary's other information, and be right whatever it contains.
 * UNSUPPORTED unless the object is a program or library of a known machine.
 * Memory is the arena's, whose owner keeps the object open meanwhile.
 */
enum wndl_status wndl_table_source_open(struct wndl_table_source *source,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* LIMIT if the code spans 4 GiB, or rules do not fit the format. */
enum wndl_status wndl_table_rows_read(struct wndl_table_rows *rows,
    const struct wndl_table_source *source, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
