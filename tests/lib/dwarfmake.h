/* SPDX-License-Identifier: MIT */
/*
 * dwarfmake: DWARF sections of any version, byte order, address and offset
 * size, written attribute by attribute for a test.
 */
#ifndef WNDL_DWARFMAKE_H
#define WNDL_DWARFMAKE_H

#include "base/buf.h"
#include "dbg/dwarf/dwarf.h"

/* `indexed` writes strings, addresses and range lists of version 5 through
 * .debug_str_offsets, .debug_addr and the offsets of .debug_rnglists. */
struct dwarf_recipe {
    unsigned version, address_size, offset_size;
    bool big_endian, indexed;
};

struct dwarfmake {
    struct dwarf_recipe how;
    struct wndl_buf info, abbrev, line, line_str, str, str_offsets;
    struct wndl_buf addr, ranges, rnglists, aranges;
    size_t unit; /* offset of the unit that was begun last */
    /* Of units from now on: DW_UT_*, 0 for a compile unit. Before version 5
     * only a split one (DW_UT_split_compile) shows. */
    uint8_t unit_type;
    uint64_t dwo_id;
};

void dwarfmake_init(struct dwarfmake *m, const struct dwarf_recipe *how);
void dwarfmake_free(struct dwarfmake *m);

/* The sections as they are now; valid until the next write. */
struct wndl_dwarf_sections dwarfmake_sections(const struct dwarfmake *m);

/* Numbers in the byte order of the recipe. */
void dw_uint(
    struct dwarfmake *m, struct wndl_buf *buf, uint64_t value, size_t size);
void dw_address(struct dwarfmake *m, struct wndl_buf *buf, uint64_t value);
void dw_offset(struct dwarfmake *m, struct wndl_buf *buf, uint64_t value);
void dw_string(struct wndl_buf *buf, const char *text);

/* Writes over a number of `size` bytes at `at`. */
void dw_patch(struct dwarfmake *m, struct wndl_buf *buf, size_t at,
    uint64_t value, size_t size);

/* A length that counts what is written until dw_end, which takes the result
 * of dw_begin. */
size_t dw_begin(struct dwarfmake *m, struct wndl_buf *buf);
void dw_end(struct dwarfmake *m, struct wndl_buf *buf, size_t begun);

/* A compile unit's header; ended by dw_end(m, &m->info, ...). */
size_t dw_begin_unit(struct dwarfmake *m, uint64_t abbrev_offset);

/* An abbreviation; `pairs` are attribute, form, ..., 0. */
void dw_abbrev(struct dwarfmake *m, uint64_t code, unsigned tag, bool children,
    const uint16_t *pairs);

/* The header of a line program up to its tables, with min_inst_length 1,
 * line_base -3, line_range 12, opcode_base 13 and `max_ops`. */
struct dw_line {
    size_t length, header_length, tables;
};
struct dw_line dw_begin_line(struct dwarfmake *m, unsigned max_ops);
void dw_begin_program(struct dwarfmake *m, const struct dw_line *line);
void dw_end_line(struct dwarfmake *m, const struct dw_line *line);

/* Directories "/src" (version 5) and "inc", files 1 "a.c" and 2 "inc/b.h". */
void dw_sample_files(struct dwarfmake *m);

/* DW_LNE_set_address; "at this address: file, line, column" and a row;
 * DW_LNE_end_sequence at `address`. */
void dw_set_address(struct dwarfmake *m, uint64_t address);
void dw_row(struct dwarfmake *m, uint64_t address, unsigned file, int line,
    unsigned column);
void dw_end_sequence(struct dwarfmake *m, uint64_t address);

/*
 * One unit in "/src" over [0x1000, 0x1150):
 *
 *   main    [0x1000, 0x1100)  C name only
 *     leaf  [0x1010, 0x1020) [0x1030, 0x1038)  called at a.c:11:3
 *       deep  [0x1014, 0x1018)                 called at inc/b.h:5:7
 *   helper  [0x1100, 0x1140)  _Z6helperv, declared in a namespace
 *   method  [0x1140, 0x1148)  defined inside of a structure type
 *   lines without a function up to 0x1150
 *
 *   0x1000 a.c:10:1, 0x1010 b.h:4:2, 0x1014 b.h:8:9, 0x1018 b.h:4:2,
 *   0x1020 a.c:12:1, 0x1100 a.c:20:1, 0x1148 a.c:0:0
 */
void make_sample_dwarf(struct dwarfmake *m);

/*
 * The skeleton unit with the lines of that, for a .dwo file `name` that `dwo`
 * holds: the sample as a split unit, with m->dwo_id. Takes .debug_addr and
 * .debug_ranges over from there.
 */
void make_skeleton_dwarf(
    struct dwarfmake *m, const char *name, const struct dwarfmake *dwo);

#endif
