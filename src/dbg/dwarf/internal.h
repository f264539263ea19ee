/* SPDX-License-Identifier: MIT */
/*
 * dwarf_internal: what the files of the DWARF reader share. From the bottom:
 *
 *   dwarf_form    values of attributes, strings, indexed addresses
 *   dwarf_abbrev  abbreviation tables
 *   dwarf_die     DIEs, read by them
 *   dwarf_cover   overlapping ranges to segments with one owner each
 *   dwarf_ranges  range lists
 *   dwarf_unit    unit headers and root DIEs
 *   dwarf_line    line programs; dwarf_file: their directories and files
 *   dwarf_func    functions of a unit, inlined calls of a function, names
 *   dwarf_index   from an address to units
 *   dwarf_list    all functions of a unit, for those who want them
 *   dwarf_changes where the answers of a range change
 *   dwarf_ahead   units read by several threads
 *   dwarf_package the index of a package of .dwo files
 *   dwarf_other   other files: supplementary, .dwo, package
 *   dwarf         opening, lookup, damage
 *
 * Conventions: a status other than OK, NOT_FOUND and NOMEM is damage and has
 * its detail in wndl_dwarf.detail. Offsets of DIEs are into .debug_info.
 * "DWARF 5" in comments is the standard of that name.
 */
#ifndef WNDL_DBG_DWARF_INTERNAL_H
#define WNDL_DBG_DWARF_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "base/workers.h"
#include "dbg/dwarf/dwarf.h"

enum {
    WNDL_DW_DEPTH_LIMIT = 1024, /* nesting of inlined calls we follow */
    WNDL_DW_CHAIN_LIMIT = 16,   /* hops from a DIE to the one with its name */
    /* Linux maps some 64 KiB around a place that is read, which is not far
     * from the next such place. */
    WNDL_DW_LOOK = 2 * 1024,
    WNDL_DW_MUCH = 64 * 1024 * 1024,
};

/* ---- values ---- */

enum wndl_dw_value_kind {
    WNDL_DW_OTHER, /* read past, not kept: blocks, flags, 16-byte data */
    WNDL_DW_NUMBER,
    WNDL_DW_OFFSET, /* into the section the attribute is about */
    WNDL_DW_ADDRESS,
    WNDL_DW_ADDRESS_INDEX,  /* into .debug_addr */
    WNDL_DW_ADDRESS_BEYOND, /* there too: index << 32 | bytes past that */
    WNDL_DW_EXPRESSION,     /* in place: offset of its length */
    WNDL_DW_LIST_INDEX,     /* into the offsets of .debug_rnglists */
    WNDL_DW_REFERENCE,      /* to a DIE, as offset into .debug_info */
    WNDL_DW_UNIT_REFERENCE, /* the same from the unit's header; DIEs that were
                             * read have none */
    WNDL_DW_STRING,         /* in place: offset into the section read from */
    WNDL_DW_STRING_AT,      /* offset into .debug_str */
    WNDL_DW_LINE_STRING_AT,
    WNDL_DW_STRING_INDEX, /* into .debug_str_offsets */
    /* Both in the supplementary file: */
    WNDL_DW_SUP_REFERENCE, /* to a DIE, as offset into .debug_info */
    WNDL_DW_SUP_STRING_AT, /* offset into .debug_str */
};

struct wndl_dw_value {
    uint64_t u;
    uint32_t kind; /* enum wndl_dw_value_kind */
};

/* What sizes of forms depend on (DWARF 5, 7.4 and 7.5.1). */
struct wndl_dw_encoding {
    uint8_t version;
    uint8_t address_size; /* 4 or 8 */
    uint8_t offset_size;  /* 4 or 8: the 32-bit or 64-bit DWARF format */
};

/* The attributes that are kept; all others are skipped over. */
enum wndl_dw_slot {
    WNDL_DW_SIBLING,
    WNDL_DW_NAME,
    WNDL_DW_LINKAGE_NAME,
    WNDL_DW_LOW_PC,
    WNDL_DW_HIGH_PC,
    WNDL_DW_RANGES,
    WNDL_DW_ORIGIN, /* abstract_origin, else specification */
    WNDL_DW_CALL_FILE,
    WNDL_DW_CALL_LINE,
    WNDL_DW_CALL_COLUMN,
    WNDL_DW_STMT_LIST,
    WNDL_DW_COMP_DIR,
    WNDL_DW_STR_OFFSETS_BASE,
    WNDL_DW_ADDR_BASE,
    WNDL_DW_RNGLISTS_BASE,
    WNDL_DW_DWO_NAME,
    WNDL_DW_LANGUAGE,
    WNDL_DW_DWO_ID,
    WNDL_DW_SPLIT_RANGES_BASE,
    WNDL_DW_SLOTS,
    WNDL_DW_NO_SLOT = WNDL_DW_SLOTS,
};

/* ---- abbreviations ---- */

/* What a DIE is to us, by its tag. */
enum wndl_dw_die_kind {
    WNDL_DW_DIE_OTHER,
    WNDL_DW_DIE_UNIT,
    WNDL_DW_DIE_PARTIAL_UNIT,
    WNDL_DW_DIE_SCOPE, /* namespace, module: full of functions */
    WNDL_DW_DIE_BLOCK, /* lexical block and the like: may hold inlined calls */
    WNDL_DW_DIE_FUNCTION,
    WNDL_DW_DIE_DECLARATION, /* function without code: declared or abstract */
    WNDL_DW_DIE_INLINED,
};

/*
 * One step of reading a DIE. Runs of attributes of known size that nobody
 * wants are one step with form WNDL_DW_SKIP.
 */
struct wndl_dw_attr {
    uint16_t form;
    uint8_t slot; /* enum wndl_dw_slot */
    uint8_t kind; /* enum wndl_dw_value_kind */
    uint32_t arg; /* bytes, WNDL_DW_VARIES, or index of an implicit constant */
};

enum {
    WNDL_DW_SKIP = 0xffff,
    WNDL_DW_IMPLICIT_CONST = 0x21,
    WNDL_DW_REF4 = 0x13,
};

enum { WNDL_DW_VARIES = UINT32_MAX, WNDL_DW_PLACES = 4 };

struct wndl_dw_abbrev {
    uint32_t first_attr;
    uint32_t attr_count;
    uint32_t fixed_size;   /* bytes of all attributes, or WNDL_DW_VARIES */
    uint32_t sibling_at;   /* bytes before DW_AT_sibling, or WNDL_DW_VARIES */
    uint16_t sibling_form; /* 0 when it has none */
    uint8_t kind;          /* enum wndl_dw_die_kind */
    bool children;
    bool has_code; /* an attribute that says where */
    /* Attributes of code and sibling, if `fixed_size` is known: bytes before
     * them, and which of the attributes. */
    uint8_t place_count;
    uint8_t place_attr[WNDL_DW_PLACES];
    uint16_t place_at[WNDL_DW_PLACES];
};

/*
 * Codes of real files count from 1 without gaps; then abbrev i has code i + 1
 * and `by_code` is empty. Otherwise by_code leads to indexes.
 */
struct wndl_dw_abbrevs {
    struct wndl_vec list;      /* struct wndl_dw_abbrev */
    struct wndl_vec attrs;     /* struct wndl_dw_attr */
    struct wndl_vec constants; /* int64_t: DW_FORM_implicit_const */
    struct wndl_map by_code;
    bool sparse;
};

/* A DIE as far as it was asked for. */
struct wndl_dw_die {
    uint64_t offset;
    const struct wndl_dw_abbrevs *table; /* where abbrev is from */
    const struct wndl_dw_abbrev *abbrev; /* NULL: end of siblings */
    uint32_t has;                        /* bit per slot */
    struct wndl_dw_value slots[WNDL_DW_SLOTS];
};

/* ---- ranges ---- */

/* Bytes [start, end), start < end, that belong to `id`. */
struct wndl_dw_range {
    uint64_t start;
    uint64_t end;
    uint32_t id;
};

/* Ranges sorted by start, none overlapping another. */
struct wndl_dw_cover {
    const struct wndl_dw_range *segments;
    size_t count;
};

/* ---- line tables ---- */

/* What a row of a line table says of its address, and up to the next row. */
struct wndl_dw_row {
    uint32_t offset; /* bytes from the start of the sequence */
    uint32_t line;
    uint32_t file;
    uint32_t column;
};

/*
 * The state of a line program between two opcodes, to go on from: rows are not
 * kept, they are read again from the last mark before them. `row` is the last
 * one that was added.
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

/* DWARF 5, 6.2.4: how a line program is to be run. */
struct wndl_dw_line_header {
    struct wndl_dw_encoding encoding;
    uint8_t min_inst_length;
    uint8_t max_ops;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    struct wndl_bytes opcode_lengths; /* of opcodes 1 to opcode_base - 1 */
};

/* What each special opcode does where an instruction is one operation (DWARF 5,
 * 6.2.5.1), so that none needs a division. `line_range` is 0 before they are
 * known. */
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

/* A directory or file entry; its string is looked at when it is asked for. */
struct wndl_dw_file {
    uint64_t name; /* with `kind`, a wndl_dw_value */
    uint32_t kind;
    uint32_t dir;
};

/* Shared by the units that name the same offset of .debug_line. */
struct wndl_dw_lines {
    struct wndl_vec dirs;       /* struct wndl_dw_file */
    struct wndl_vec files;      /* struct wndl_dw_file */
    struct wndl_vec marks;      /* struct wndl_dw_mark */
    struct wndl_vec sequences;  /* struct wndl_dw_sequence */
    struct wndl_dw_cover cover; /* id: index into sequences */
    struct wndl_dw_line_header header;
    struct wndl_cursor program;
    uint8_t version;
    bool is_damaged; /* in the header: then all is empty, or past it: no rows */
};

/* ---- functions ---- */

/* Parent of an inlined call that is directly in the function. */
enum { WNDL_DW_NO_PARENT = UINT32_MAX };

/* An inlined call. What it says is read again when it is asked for. */
struct wndl_dw_call {
    uint32_t die;    /* bytes from that of its function */
    uint32_t parent; /* index < own index, or WNDL_DW_NO_PARENT */
};

struct wndl_dw_inlined {
    uint64_t named_by; /* DIE to start from for the name */
    uint64_t start;    /* lowest address */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
};

/* What holds an address, innermost first. */
struct wndl_dw_chain {
    const struct wndl_dw_inlined *calls; /* until the next search */
    size_t count;
};

/* The inlined calls of one function, in the order of their DIEs. */
struct wndl_dw_inlines {
    const struct wndl_dw_call *list;
    const struct wndl_dw_range *ranges; /* id: index into list, ascending */
    size_t range_count;
    struct wndl_dw_cover cover; /* of the same ids */
};

struct wndl_dw_func {
    uint64_t die;
    uint64_t start;                  /* lowest address */
    struct wndl_dw_inlines *inlines; /* NULL until it pays to have them */
    uint32_t searches;               /* for inlined calls */
};

enum wndl_dw_funcs_state {
    WNDL_DW_FUNCS_UNREAD,
    WNDL_DW_FUNCS_SKIMMED, /* subtrees were skipped that could hold more */
    WNDL_DW_FUNCS_ALL,
};

struct wndl_dw_funcs {
    struct wndl_vec list;       /* struct wndl_dw_func */
    struct wndl_dw_cover cover; /* id: index into list */
    uint8_t state;              /* enum wndl_dw_funcs_state */
};

/* ---- units ---- */

enum wndl_dw_root_state {
    WNDL_DW_ROOT_UNREAD,
    WNDL_DW_ROOT_READ,
    WNDL_DW_UNIT_LOST, /* damaged: answers nothing any more */
};

struct wndl_dw_unit {
    uint64_t offset; /* of its header */
    uint64_t dies;   /* of its root DIE */
    uint64_t end;
    uint64_t abbrev_offset;
    uint32_t number; /* as they became known */
    struct wndl_dw_encoding encoding;
    uint8_t root_state; /* enum wndl_dw_root_state */
    bool is_partial;    /* no code of its own */
    bool is_counted;    /* as damaged */
    bool is_unranged;   /* root DIE without ranges: code if functions say so */
    bool is_ahead;      /* being read by dwarf_ahead */
    bool lines_tried;
    /* From the root DIE: */
    bool has_lines;
    bool has_rnglists_base;
    bool has_addr_base;
    uint16_t language; /* DW_LANG_*, 0: not said */
    struct wndl_bytes comp_dir;
    uint64_t stmt_list;
    uint64_t base; /* for range lists */
    uint64_t addr_base;
    uint64_t str_offsets_base;
    uint64_t rnglists_base;      /* before version 5: added to DW_AT_ranges */
    struct wndl_dw_split *split; /* of a skeleton, else NULL */
    /* When looked into: */
    struct wndl_dw_abbrevs *abbrevs;
    struct wndl_dw_lines *lines;
    struct wndl_dw_funcs funcs;
};

/* ---- other files ---- */

/*
 * Where the functions of a skeleton unit are. While `dwarf` is NULL they are
 * not known; after `is_tried` they never will be.
 */
struct wndl_dw_split {
    struct wndl_bytes name; /* DW_AT_dwo_name */
    uint64_t id;
    uint64_t ranges_base; /* DW_AT_GNU_ranges_base */
    bool is_tried;
    struct wndl_dwarf *dwarf;
    struct wndl_dw_unit *unit; /* of `dwarf` */
};

/* The tables of .debug_cu_index (DWARF 5, 7.3.5.3), as offsets into it. */
struct wndl_dw_package {
    struct wndl_dwarf_sections in;
    uint32_t version; /* 2, the GNU one, or 5 */
    uint32_t columns;
    uint32_t units;
    uint32_t slots;
    uint64_t hashes;
    uint64_t rows;
    uint64_t columns_at;
    uint64_t offsets;
    uint64_t sizes;
    uint64_t given; /* bytes of .debug_info.dwo, of all units so far */
};

/* ---- everything ---- */

/*
 * What may still be decoded out of sections that many can refer to: a file
 * whose units all point at one big list must not cost its square. Real files
 * stay far below.
 */
struct wndl_dw_budget {
    uint64_t abbrev_bytes;
    uint64_t root_bytes; /* of abbreviations, looking for those of roots */
    uint64_t range_entries;
    uint64_t line_bytes;
};

struct wndl_dw_names {
    struct wndl_bytes name;
    struct wndl_bytes linkage_name;
    uint16_t language; /* of the unit that names it */
};

struct wndl_dwarf {
    struct wndl_dwarf_sections in;
    struct wndl_mem *mem;
    struct wndl_arena own_arena;
    struct wndl_arena *arena; /* that one, or that of the first file */
    struct wndl_vec units; /* struct wndl_dw_unit *, by offset: those known */
    uint32_t units_made;
    bool has_all_units;
    struct wndl_dwarf_stats stats;
    struct wndl_error detail;            /* of the last damage */
    const struct wndl_dw_unit *skeleton; /* what a .dwo file is opened for */
    struct wndl_dwarf *others;           /* list of what is closed with this */
    struct wndl_dwarf *next_other;
    struct wndl_dwarf *supplementary;
    struct wndl_shared_mem helpers_mem;
    struct wndl_vec helpers;        /* struct wndl_dwarf *, among d->others */
    struct wndl_dw_package package; /* all zero when there is none */
    bool supplementary_is_tried;
    bool package_is_tried;
    struct wndl_dw_budget budget;
    uint64_t touched;        /* bytes of sections since memory was given up */
    uint64_t much;           /* when to give up memory */
    struct wndl_map abbrevs; /* offset and encoding -> wndl_dw_abbrevs * */
    uint64_t last_root_abbrevs; /* key of the table the last root DIE used */
    struct wndl_map lines;      /* offset -> wndl_dw_lines * */
    struct wndl_map name_of;    /* DIE -> index into names */
    struct wndl_vec names;      /* struct wndl_dw_names */
    struct wndl_map path_of;    /* number << 32 | file -> index into paths */
    struct wndl_vec paths;      /* struct wndl_bytes */
    struct wndl_dw_cover hints; /* of .debug_aranges; id: index into hinted */
    struct wndl_vec hinted;     /* uint64_t: offsets of units */
    struct wndl_vec unit_ranges;
    struct wndl_dw_cover unit_cover; /* id: unit */
    bool has_hints;
    bool has_unit_cover;
    bool covers_all_units; /* and not only what .debug_aranges lacks */
    bool has_unranged;     /* some unit is_unranged */
    /*
     * Where things are collected until their number is known and they can be
     * copied to a place of their own; kept for their memory.
     */
    struct wndl_dw_abbrevs new_abbrevs;
    struct wndl_vec new_funcs;     /* struct wndl_dw_func */
    struct wndl_vec new_marks;     /* struct wndl_dw_mark */
    struct wndl_vec new_sequences; /* struct wndl_dw_sequence */
    struct wndl_vec segments;      /* struct wndl_dw_range */
    struct wndl_vec ranges; /* struct wndl_dw_range, of one unit or function */
    struct wndl_vec heap;   /* of dwarf_cover */
    struct wndl_vec calls;  /* struct wndl_dw_call, of one function */
    struct wndl_vec chain;  /* struct wndl_dw_inlined */
    struct wndl_vec frames; /* struct wndl_dwarf_frame: the last answer */
    struct wndl_dw_specials specials; /* of the last line program */
};

static inline bool wndl_dw_has(
    const struct wndl_dw_die *die, enum wndl_dw_slot slot)
{
    return (die->has >> slot & 1) != 0;
}

/* dwarf */

/* What another file is opened for; `skeleton` is NULL but for a .dwo file. */
struct wndl_dw_referrer {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *skeleton;
};

/* wndl_dwarf_open; `referrer` is NULL for the first file. */
enum wndl_status wndl_dw_open(const struct wndl_dwarf_sections *sections,
    struct wndl_mem *mem, const struct wndl_dw_referrer *referrer,
    struct wndl_dwarf **out, struct wndl_error *err) WNDL_MUST_USE;

/* Makes one of d->others that has no file: what it reads for `d` is of memory
 * of its own, and stays. NULL when memory is out. */
struct wndl_dwarf *wndl_dw_new_helper(struct wndl_dwarf *d);

/* Describes damage in d->detail and returns `status`. */
enum wndl_status wndl_dw_damage(struct wndl_dwarf *d, const char *section,
    uint64_t offset, const char *what) WNDL_MUST_USE;

/* Counts `unit` as damaged, for d->detail. */
void wndl_dw_count_damage(struct wndl_dwarf *d, struct wndl_dw_unit *unit);

/* Turns damage into a lost unit and NOT_FOUND; other statuses pass. */
enum wndl_status wndl_dw_settle(struct wndl_dwarf *d, struct wndl_dw_unit *unit,
    enum wndl_status status) WNDL_MUST_USE;

/* To be told of reading: `bytes` of sections were gone over, or there was a
 * look at one place of them (WNDL_DW_LOOK). */
void wndl_dw_touch(struct wndl_dwarf *d, uint64_t bytes);

/* Copies the elements of `from` to memory of their own. False: none left. */
bool wndl_dw_keep(const struct wndl_vec *from, struct wndl_vec *to);

static inline struct wndl_dw_unit *wndl_dw_unit_at(
    const struct wndl_dwarf *d, size_t index)
{
    return *(struct wndl_dw_unit **)wndl_vec_at(&d->units, index);
}

/* dwarf_form */

/* Bytes of a form, WNDL_DW_VARIES, or -1 for a form we do not know. */
int64_t wndl_dw_form_size(unsigned form, struct wndl_dw_encoding encoding);

/* What its values are: enum wndl_dw_value_kind. */
uint8_t wndl_dw_form_kind(unsigned form);

/* Reads a value of `form`, which wndl_dw_form_size knows. */
struct wndl_dw_value wndl_dw_read_form(
    struct wndl_cursor *c, unsigned form, struct wndl_dw_encoding encoding);

/*
 * The bytes of a string value; empty when `value` is not a string or is in a
 * supplementary file that is missing. `inline_in` is the section it was read
 * from.
 */
enum wndl_status wndl_dw_string(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value,
    struct wndl_bytes inline_in, struct wndl_bytes *out) WNDL_MUST_USE;

enum wndl_status wndl_dw_address(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value,
    uint64_t *address) WNDL_MUST_USE;

enum wndl_status wndl_dw_address_at(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t index,
    uint64_t *address) WNDL_MUST_USE;

/* The largest address, and in many linkers' output "this code is gone". */
static inline uint64_t wndl_dw_max_address(unsigned address_size)
{
    return address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

/*
 * What linkers write for the address of code they dropped: 0 (GNU ld, gold),
 * -1, and in .debug_ranges 1 (GNU ld) and -2 (lld). An image with code at 0
 * loses it.
 */
static inline bool wndl_dw_is_tombstone(
    const struct wndl_dwarf *d, unsigned address_size, uint64_t address)
{
    return (address <= 1 && !d->in.starts_at_zero) ||
           address >= wndl_dw_max_address(address_size) - 1;
}

/* dwarf_abbrev */

void wndl_dw_abbrevs_init(
    struct wndl_dw_abbrevs *table, struct wndl_arena *arena);

/*
 * Sets table and abbrev of `die`, the unit's root with that code, without
 * reading the whole table at its first use. NOT_FOUND: no such code.
 */
enum wndl_status wndl_dw_root_abbrev(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t code,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Sets unit->abbrevs. */
enum wndl_status wndl_dw_load_abbrevs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

static inline const struct wndl_dw_abbrev *wndl_dw_abbrev_of(
    const struct wndl_dw_abbrevs *abbrevs, uint64_t code)
{
    if (!abbrevs->sparse)
        return code - 1 < abbrevs->list.len
                   ? wndl_vec_at(&abbrevs->list, code - 1)
                   : NULL;
    const uint64_t *index = wndl_map_get(&abbrevs->by_code, code);
    return index == NULL ? NULL : wndl_vec_at(&abbrevs->list, *index);
}

/* dwarf_die */

/* A cursor at `offset` of .debug_info that ends with the unit. */
struct wndl_cursor wndl_dw_cursor_at(const struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t offset);

/* Reads the attributes of a DIE whose code was read. */
enum wndl_status wndl_dw_read_attrs(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* The same, but fills no more slots than are needed to know where its code is
 * and its sibling. */
enum wndl_status wndl_dw_read_place(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Code and attributes. Damage when there is no DIE at the cursor. */
enum wndl_status wndl_dw_read_die(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Reads a code: die->offset, and die->abbrev (NULL for 0). */
enum wndl_status wndl_dw_read_code(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

enum wndl_status wndl_dw_read_root_die(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_die *die) WNDL_MUST_USE;

/*
 * Goes past the attributes of a DIE whose code was read. With *skipped set,
 * and where there is a DW_AT_sibling, past its children too; if not, *skipped
 * is cleared.
 */
enum wndl_status wndl_dw_skip_die(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    const struct wndl_dw_die *die, bool *skipped) WNDL_MUST_USE;

/* Moves `c` to the sibling that `die` names. */
enum wndl_status wndl_dw_go_to_sibling(struct wndl_dwarf *d,
    struct wndl_cursor *c, const struct wndl_dw_die *die,
    uint64_t sibling) WNDL_MUST_USE;

/* dwarf_cover */

/*
 * Segments of `ranges` (struct wndl_dw_range), each with the owner of the
 * highest id, or with `first_wins` of the lowest. Sorts `ranges`.
 */
enum wndl_status wndl_dw_make_cover(struct wndl_dwarf *d,
    struct wndl_vec *ranges, bool first_wins,
    struct wndl_dw_cover *cover) WNDL_MUST_USE;

/* The segment that holds `address`, or NULL. */
const struct wndl_dw_range *wndl_dw_cover_find(
    const struct wndl_dw_cover *cover, uint64_t address);

/* dwarf_ranges */

/*
 * Adds the ranges of `die` with `id` to d->ranges; none is not an error.
 * Ranges of dropped code are left out.
 */
enum wndl_status wndl_dw_add_ranges(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *die,
    uint32_t id) WNDL_MUST_USE;

/* Lowest start of d->ranges from index `first` on; UINT64_MAX if none. */
uint64_t wndl_dw_lowest(const struct wndl_dwarf *d, size_t first);

/* dwarf_unit */

/*
 * Makes all units known: those that .debug_aranges leads to become known one
 * by one. MALFORMED when there is not a single header.
 */
enum wndl_status wndl_dw_load_headers(struct wndl_dwarf *d) WNDL_MUST_USE;

/* MALFORMED when there is not a single header. */
enum wndl_status wndl_dw_check_first(struct wndl_dwarf *d) WNDL_MUST_USE;

/* The unit with its header at `offset`. OK, NOT_FOUND, NOMEM. */
enum wndl_status wndl_dw_unit_starting_at(struct wndl_dwarf *d, uint64_t offset,
    struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* Reads the root DIE once. `die` may be NULL when only the unit is wanted. */
enum wndl_status wndl_dw_load_root(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_die *die) WNDL_MUST_USE;

/* Root and abbreviations. NOT_FOUND when the unit is lost. */
enum wndl_status wndl_dw_load_unit(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/* The id of a skeleton or split unit whose root DIE is `root`; 0 if none. */
uint64_t wndl_dw_split_id(const struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *root);

/* The unit that holds the DIE or header at `offset`. OK, NOT_FOUND, NOMEM. */
enum wndl_status wndl_dw_unit_of(struct wndl_dwarf *d, uint64_t offset,
    struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* dwarf_line, dwarf_file */

/* The row for `address`. */
enum wndl_status wndl_dw_find_row(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address,
    struct wndl_dw_row *row) WNDL_MUST_USE;

/* The same, also when NOT_FOUND with *end, up to which it holds. */
enum wndl_status wndl_dw_find_row_until(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_row *row,
    uint64_t *end) WNDL_MUST_USE;

/* Sets unit->lines, which stays NULL when the unit has none or lost them. */
enum wndl_status wndl_dw_load_lines(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/* Reads the lines of a unit that is loaded and has some, without changing
 * it. OK also when they are damaged. */
enum wndl_status wndl_dw_read_lines(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit,
    struct wndl_dw_lines **lines) WNDL_MUST_USE;

/* The directory and file tables of a header, `c` at their start. */
enum wndl_status wndl_dw_read_files(struct wndl_dwarf *d, struct wndl_cursor *c,
    struct wndl_dw_encoding encoding,
    struct wndl_dw_lines *lines) WNDL_MUST_USE;

/* A file entry of version 4 or DW_LNE_define_file. */
enum wndl_status wndl_dw_read_file_entry(
    struct wndl_cursor *c, struct wndl_vec *files) WNDL_MUST_USE;

/* Path of a file number of `unit`; empty when unknown. */
enum wndl_status wndl_dw_path(struct wndl_dwarf *d, struct wndl_dw_unit *unit,
    uint32_t file, struct wndl_bytes *path) WNDL_MUST_USE;

/* dwarf_func */

/* The function of `unit` at `address`. */
enum wndl_status wndl_dw_find_func(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address,
    struct wndl_dw_func **func) WNDL_MUST_USE;

/*
 * Reads functions of a unit that is loaded, without changing it; with `skim`
 * not what is hidden in types and other functions.
 */
enum wndl_status wndl_dw_read_funcs(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, bool skim,
    struct wndl_dw_funcs *funcs) WNDL_MUST_USE;

/* All functions of the unit, however hidden. */
enum wndl_status wndl_dw_load_all_funcs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/*
 * The inlined calls of `func` that hold `address`: those with it in a range,
 * in calls that hold it too or have no ranges. The last such DIE is the
 * innermost.
 */
enum wndl_status wndl_dw_find_inlined(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func, uint64_t address,
    struct wndl_dw_chain *chain) WNDL_MUST_USE;

/* Sets func->inlines. */
enum wndl_status wndl_dw_load_inlines(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func) WNDL_MUST_USE;

/*
 * The names of a function DIE of `unit`, followed to its origins. A damaged
 * reference loses the unit it is in and leaves the names empty.
 */
enum wndl_status wndl_dw_names_of(struct wndl_dwarf *d, uint64_t die,
    struct wndl_dw_names *names) WNDL_MUST_USE;

/* dwarf_index */

/* The unit that .debug_aranges tells for `address`, or NULL. A hint. */
enum wndl_status wndl_dw_hinted_unit(struct wndl_dwarf *d, uint64_t address,
    struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* The unit whose root DIE, or else whose functions, cover `address`. Without
 * `is_code` what .debug_aranges tells of a unit is believed to be all. */
enum wndl_status wndl_dw_find_unit(struct wndl_dwarf *d, uint64_t address,
    bool is_code, struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* dwarf_package */

/* Reads the header of the index in package->in. */
enum wndl_status wndl_dw_read_package(
    struct wndl_dw_package *package, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The sections of the unit with this id. NOT_FOUND when it has none;
 * MALFORMED also when the index would make looking through it, or through what
 * it says are units, cost more than its size allows.
 */
enum wndl_status wndl_dw_find_in_package(struct wndl_dw_package *package,
    uint64_t id, struct wndl_dwarf_sections *sections,
    struct wndl_error *err) WNDL_MUST_USE;

/* dwarf_other */

/*
 * From a skeleton unit to the one in its .dwo file, if that is there; that it
 * is missing is counted. Any other unit stays. OK, NOMEM, or NOT_FOUND when
 * the unit that is given is lost; it is loaded otherwise.
 */
enum wndl_status wndl_dw_find_code(
    struct wndl_dwarf **d, struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* Sets d->supplementary, once. OK also when it is missing, which is counted. */
enum wndl_status wndl_dw_load_supplementary(struct wndl_dwarf *d) WNDL_MUST_USE;

/* A number of `size` bytes. */
static inline uint64_t wndl_dw_read_uint(struct wndl_cursor *c, unsigned size)
{
    switch (size) {
    case 1:
        return wndl_cursor_u8(c);
    case 2:
        return wndl_cursor_u16(c);
    case 4:
        return wndl_cursor_u32(c);
    case 8:
        return wndl_cursor_u64(c);
    default:
        return wndl_cursor_uint(c, size);
    }
}

#endif
