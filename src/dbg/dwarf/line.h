/* SPDX-License-Identifier: MIT */
/* line: line programs, and the directories and files in them. */
#ifndef WNDL_DBG_DWARF_LINE_H
#define WNDL_DBG_DWARF_LINE_H

#include "dbg/dwarf/ranges.h"

/* A row of a line table, valid from its address up to the next row. */
struct wndl_dw_row {
    uint32_t offset; /* bytes from the start of the sequence */
    uint32_t line;
    uint32_t file;
    uint32_t column;
};

/*
 * The state of a line program between two opcodes, from which it can go on.
 * Rows are not kept; they are read again from the last mark before them. `row`
 * is the last row that was added.
 */
struct wndl_dw_mark {
    struct wndl_dw_row row;
    uint32_t at; /* of the next opcode, from the start of the program */
    uint32_t op_index;
    uint64_t address;
    uint32_t line;
    uint32_t file;
    uint32_t column;
};

/* Marks [first, first + count), count > 0, the first of them at the first
 * row. */
struct wndl_dw_sequence {
    uint64_t start;
    uint32_t first;
    uint32_t count;
};

/* The parameters of a line program (DWARF 5, 6.2.4). */
struct wndl_dw_line_header {
    struct wndl_dw_encoding encoding;
    uint8_t min_inst_length;
    uint8_t max_ops;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    struct wndl_bytes opcode_lengths; /* of opcodes 1 to opcode_base - 1 */
};

/*
 * The effect of each special opcode where an instruction has one operation
 * (DWARF 5, 6.2.5.1), so that none needs a division. `line_range` is 0 until
 * they are computed.
 */
struct wndl_dw_specials {
    uint8_t min_inst_length;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    struct {
        uint16_t bytes;
        int16_t lines;
    } of[256];
};

/* A directory or file entry; its string is read when it is needed. */
struct wndl_dw_file {
    uint64_t name; /* with `kind`, a wndl_dw_value */
    uint32_t kind;
    uint32_t dir;
};

/* A line table, shared by units with the same offset into .debug_line. */
struct wndl_dw_lines {
    struct wndl_vec dirs;       /* struct wndl_dw_file */
    struct wndl_vec files;      /* struct wndl_dw_file */
    struct wndl_vec marks;      /* struct wndl_dw_mark */
    struct wndl_vec sequences;  /* struct wndl_dw_sequence */
    struct wndl_dw_cover cover; /* id: index into sequences */
    struct wndl_dw_line_header header;
    struct wndl_cursor program;
    uint8_t version;
    /* in the header: all is empty; after it: there are no rows */
    bool is_damaged;
};

/* The row for `address`. */
enum wndl_status wndl_dw_find_row(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address,
    struct wndl_dw_row *row) WNDL_MUST_USE;

/* The same; sets *end, also when NOT_FOUND, up to which the answer holds. */
enum wndl_status wndl_dw_find_row_until(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_row *row,
    uint64_t *end) WNDL_MUST_USE;

/* Sets unit->lines, which stays NULL when the unit has none or lost them. */
enum wndl_status wndl_dw_load_lines(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/*
 * Reads the lines of a loaded unit that has some, without changing the unit. OK
 * also when they are damaged.
 */
enum wndl_status wndl_dw_read_lines(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit,
    struct wndl_dw_lines **lines) WNDL_MUST_USE;

/* Reads the directory and file tables of a header; `c` is at their start. */
enum wndl_status wndl_dw_read_files(struct wndl_dwarf *d, struct wndl_cursor *c,
    struct wndl_dw_encoding encoding,
    struct wndl_dw_lines *lines) WNDL_MUST_USE;

/* A file entry of version 4 or DW_LNE_define_file. */
enum wndl_status wndl_dw_read_file_entry(
    struct wndl_cursor *c, struct wndl_vec *files) WNDL_MUST_USE;

/* The path of a file number of `unit`; empty when it is unknown. */
enum wndl_status wndl_dw_path(struct wndl_dwarf *d, struct wndl_dw_unit *unit,
    uint32_t file, struct wndl_bytes *path) WNDL_MUST_USE;

#endif
