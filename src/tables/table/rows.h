/* SPDX-License-Identifier: MIT */
/*
 * rows: all call frame information of one binary as the rows of an unwind
 * table: where a rule begins to hold, and which. What it must not know: how
 * tables are laid out.
 */
#ifndef WNDL_TABLES_TABLE_ROWS_H
#define WNDL_TABLES_TABLE_ROWS_H

#include "base/buf.h"
#include "base/intern.h"
#include "cfi/cfi.h"
#include "obj/core/object.h"
#include "unwind/core/arch.h"

/* [start, end) of code, svma, and where its record is. */
struct wndl_table_function {
    uint64_t start, end; /* cut where the next one starts */
    uint64_t fde;
};

/* The functions of a section of call frame information, sorted. */
struct wndl_table_source {
    const struct wndl_arch *arch;
    const char *name; /* as in struct wndl_frames */
    uint64_t size;    /* bytes of it */
    struct wndl_cfi_section frame;
    struct wndl_vec functions; /* struct wndl_table_function */
    uint64_t lost;             /* records that could not be read */
};

/* A rule from `start` on, up to the next row. */
struct wndl_table_run {
    uint32_t start; /* bytes from `base` */
    uint32_t rule;  /* number: index into `rules` */
};

/*
 * Invariants: runs are sorted, neighbours have different rules, the last one is
 * of rule 0, which is that of no information.
 */
struct wndl_table_rows {
    uint64_t base;          /* svma, a multiple of the largest block */
    struct wndl_vec runs;   /* struct wndl_table_run */
    struct wndl_vec rules;  /* uint32_t, as in the file */
    struct wndl_vec full;   /* uint8_t: the rows that are told in full */
    struct wndl_vec counts; /* uint32_t: runs of each rule */
    uint64_t lost;          /* functions whose rows are not all there */
};

/* Code between functions up to so many bytes is padding: it has the rule of
 * what is before it. */
enum { WNDL_TABLE_PADDING = 15 };

/*
 * Lists the functions that there is call frame information of (frames.h).
 * NOT_FOUND when there is none, or of no function: such a table would stand
 * before what else the binary has, and be right whatever it says. UNSUPPORTED
 * for what is no program or library of a machine that is known. Memory is the
 * arena's, whose owner keeps the object open meanwhile.
 */
enum wndl_status wndl_table_source_open(struct wndl_table_source *source,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

/* LIMIT when the code spans 4 GiB or rules do not fit the format. */
enum wndl_status wndl_table_rows_read(struct wndl_table_rows *rows,
    const struct wndl_table_source *source, struct wndl_arena *arena,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
