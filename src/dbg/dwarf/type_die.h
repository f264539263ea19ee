/* SPDX-License-Identifier: MIT */
/* type_die: DIEs of types with all attributes that say what a type is. */
#ifndef WNDL_DBG_DWARF_TYPE_DIE_H
#define WNDL_DBG_DWARF_TYPE_DIE_H

#include "base/intern.h"
#include "base/map.h"
#include "dbg/dwarf/internal.h"
#include "dbg/dwarf/types.h"

enum wndl_dw_type_slot {
    WNDL_DW_T_NAME,
    WNDL_DW_T_TYPE,
    WNDL_DW_T_BYTE_SIZE,
    WNDL_DW_T_BIT_SIZE,
    WNDL_DW_T_BIT_OFFSET,
    WNDL_DW_T_DATA_BIT_OFFSET,
    WNDL_DW_T_LOCATION, /* a NUMBER of bytes, or not known */
    WNDL_DW_T_LOWER_BOUND,
    WNDL_DW_T_UPPER_BOUND,
    WNDL_DW_T_COUNT,
    WNDL_DW_T_DECLARATION,
    WNDL_DW_T_ENCODING,
    WNDL_DW_T_SIGNATURE,
    WNDL_DW_T_ORIGIN,
    WNDL_DW_T_SIBLING,
    WNDL_DW_T_LINE,
    WNDL_DW_T_STR_OFFSETS_BASE,
    WNDL_DW_T_SLOTS,
};

/* A value of DW_FORM_ref_sig8, beside those of enum wndl_dw_value_kind. */
enum { WNDL_DW_SIGNATURE = 100 };

/* DWARF 5, 7.5.3, table 7.3: the tags that are named here. */
enum {
    WNDL_DW_TAG_ARRAY = 0x01,
    WNDL_DW_TAG_CLASS = 0x02,
    WNDL_DW_TAG_ENUM = 0x04,
    WNDL_DW_TAG_PARAMETER = 0x05,
    WNDL_DW_TAG_BLOCK = 0x0b,
    WNDL_DW_TAG_MEMBER = 0x0d,
    WNDL_DW_TAG_POINTER = 0x0f,
    WNDL_DW_TAG_REFERENCE = 0x10,
    WNDL_DW_TAG_STRUCT = 0x13,
    WNDL_DW_TAG_TYPEDEF = 0x16,
    WNDL_DW_TAG_UNION = 0x17,
    WNDL_DW_TAG_INHERITANCE = 0x1c,
    WNDL_DW_TAG_INLINED = 0x1d,
    WNDL_DW_TAG_MODULE = 0x1e,
    WNDL_DW_TAG_SUBRANGE = 0x21,
    WNDL_DW_TAG_BASE = 0x24,
    WNDL_DW_TAG_CONST = 0x26,
    WNDL_DW_TAG_VARIABLE = 0x34,
    WNDL_DW_TAG_VOLATILE = 0x35,
    WNDL_DW_TAG_RESTRICT = 0x37,
    WNDL_DW_TAG_INTERFACE = 0x38,
    WNDL_DW_TAG_NAMESPACE = 0x39,
    WNDL_DW_TAG_RVALUE_REFERENCE = 0x42,
    WNDL_DW_TAG_ATOMIC = 0x47,
    WNDL_DW_TAG_IMMUTABLE = 0x4b,
};

struct wndl_dw_type_table;

/* A unit as types are read from it. */
struct wndl_dw_type_unit {
    struct wndl_dwarf *d;
    struct wndl_bytes section; /* with the unit, up to its end */
    const struct wndl_dw_unit *unit;
    const struct wndl_dw_type_table *abbrevs;
    uint64_t type_at; /* of a type unit: its type's DIE, in the section */
    bool is_indexed;
    bool is_lost; /* its abbreviations are damaged */
};

/* A DIE that was read. */
struct wndl_dw_type_at {
    struct wndl_dw_type_unit *unit;
    uint64_t offset;
    uint32_t tag; /* 0: the end of siblings */
    bool children;
    uint32_t has; /* bit per slot */
    struct wndl_dw_value slots[WNDL_DW_T_SLOTS];
};

/* A name in the index. */
struct wndl_dw_type_name {
    struct wndl_dw_type_unit *unit;
    uint64_t offset;
    uint32_t next;  /* index + 1 of the next of that name, or 0 */
    bool is_tagged; /* a struct, union or enum */
};

struct wndl_types {
    struct wndl_dwarf *d;
    struct wndl_mem *mem;
    struct wndl_arena arena;
    struct wndl_map units;      /* wndl_dw_unit * -> wndl_dw_type_unit * */
    struct wndl_map tables;     /* place and sizes -> wndl_dw_type_table * */
    struct wndl_map types;      /* place of a DIE -> struct wndl_type * */
    struct wndl_map signatures; /* -> wndl_dw_type_unit * */
    struct wndl_vec type_units; /* struct wndl_dw_type_unit * */
    bool has_type_units;
    struct wndl_intern strings; /* qualified names */
    struct wndl_map by_name;    /* id -> index + 1 of the first name */
    struct wndl_vec names;      /* struct wndl_dw_type_name */
    struct wndl_map name_of;    /* place of a DIE -> id + 1 */
    size_t next_unit;           /* of the units of `d`, to be indexed */
    size_t next_type_unit;
    uint32_t damaged;
    struct wndl_error first_damage;
};

static inline bool wndl_dw_type_has(
    const struct wndl_dw_type_at *die, enum wndl_dw_type_slot slot)
{
    return (die->has >> slot & 1) != 0;
}

/* The number in a slot, or `otherwise`. */
static inline uint64_t wndl_dw_type_number(const struct wndl_dw_type_at *die,
    enum wndl_dw_type_slot slot, uint64_t otherwise)
{
    return wndl_dw_type_has(die, slot) &&
                   die->slots[slot].kind == WNDL_DW_NUMBER
               ? die->slots[slot].u
               : otherwise;
}

/* The key of a DIE: no other one of all mapped files has it. */
static inline uint64_t wndl_dw_type_key(
    const struct wndl_dw_type_unit *unit, uint64_t offset)
{
    return (uint64_t)(uintptr_t)(unit->section.data + offset);
}

/* type_die */

/* The unit of `d` as types are read from it. NOT_FOUND: it is lost. */
enum wndl_status wndl_dw_type_unit(struct wndl_types *t, struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_type_unit **out) WNDL_MUST_USE;

/* Makes all type units known. OK or NOMEM. */
enum wndl_status wndl_dw_load_type_units(struct wndl_types *t) WNDL_MUST_USE;

/* A cursor at a DIE; it ends at the unit's end. */
struct wndl_cursor wndl_dw_type_cursor(
    const struct wndl_dw_type_unit *unit, uint64_t offset);

/* Reads the DIE at `c`, which moves past its attributes. */
enum wndl_status wndl_dw_read_type_die(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_type_at *die) WNDL_MUST_USE;

/* Moves `c`, which is after the attributes of `die`, past its children. */
enum wndl_status wndl_dw_skip_children(struct wndl_types *t,
    const struct wndl_dw_type_at *die, struct wndl_cursor *c) WNDL_MUST_USE;

/* The DIE that a reference in `from` leads to. */
enum wndl_status wndl_dw_type_refer(struct wndl_types *t,
    const struct wndl_dw_type_unit *from, struct wndl_dw_value value,
    struct wndl_dw_type_unit **unit, uint64_t *offset) WNDL_MUST_USE;

/* The name of a DIE; empty where it has none. */
enum wndl_status wndl_dw_type_name(
    const struct wndl_dw_type_at *die, struct wndl_bytes *name) WNDL_MUST_USE;

/* Describes damage at a DIE; returns MALFORMED. */
enum wndl_status wndl_dw_type_damage(const struct wndl_dw_type_unit *unit,
    uint64_t offset, const char *what) WNDL_MUST_USE;

/* Counts damage by the detail of `d`, and makes it NOT_FOUND; other statuses
 * pass. */
enum wndl_status wndl_dw_type_lose(struct wndl_types *t,
    const struct wndl_dwarf *d, enum wndl_status status) WNDL_MUST_USE;

/* type_index */

/*
 * The DIE of a complete type of that qualified name, in `first` (which may be
 * NULL) or another unit. NOT_FOUND, NOMEM.
 */
enum wndl_status wndl_dw_find_named(struct wndl_types *t,
    struct wndl_bytes name, struct wndl_dw_type_unit *first,
    struct wndl_dw_type_name *found) WNDL_MUST_USE;

/* The qualified name of a named DIE. NOT_FOUND: none, or it is in a function.
 * NOMEM. */
enum wndl_status wndl_dw_qualified_name(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, uint64_t offset,
    struct wndl_bytes *name) WNDL_MUST_USE;

/* The unit with the code at `address`, or its .dwo file's. */
enum wndl_status wndl_dw_type_unit_at(struct wndl_types *t, uint64_t address,
    struct wndl_dw_type_unit **unit) WNDL_MUST_USE;

/* types */

/* The type whose DIE is at `offset`. NOT_FOUND: damaged. NOMEM. */
enum wndl_status wndl_dw_type_of(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, uint64_t offset,
    const struct wndl_type **type) WNDL_MUST_USE;

/* The type that DW_AT_type of `die` refers to. NOT_FOUND: void, or damaged. */
enum wndl_status wndl_dw_type_in(struct wndl_types *t,
    const struct wndl_dw_type_at *die,
    const struct wndl_type **type) WNDL_MUST_USE;

#endif
