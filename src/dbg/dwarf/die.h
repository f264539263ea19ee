/* SPDX-License-Identifier: MIT */
/* die: abbreviation tables, and DIEs that are read by them. */
#ifndef WNDL_DBG_DWARF_DIE_H
#define WNDL_DBG_DWARF_DIE_H

#include "base/map.h"
#include "base/vec.h"
#include "dbg/dwarf/form.h"

/* The attributes that are kept; all others are skipped. */
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

/* The kind of a DIE, by its tag. */
enum wndl_dw_die_kind {
    WNDL_DW_DIE_OTHER,
    WNDL_DW_DIE_UNIT,
    WNDL_DW_DIE_PARTIAL_UNIT,
    WNDL_DW_DIE_SCOPE, /* namespace, module: contains functions */
    /* lexical block and the like: may contain inlined calls */
    WNDL_DW_DIE_BLOCK,
    WNDL_DW_DIE_FUNCTION,
    WNDL_DW_DIE_DECLARATION, /* function without code: declared or abstract */
    WNDL_DW_DIE_INLINED,
};

/*
 * One step of reading a DIE. A run of attributes of known size that are not
 * kept is one step with form WNDL_DW_SKIP.
 */
struct wndl_dw_attr {
    uint16_t form;
    uint8_t slot; /* enum wndl_dw_slot */
    uint8_t kind; /* enum wndl_dw_value_kind */
    uint32_t arg; /* bytes, WNDL_DW_VARIES, or index of an implicit constant */
};

enum { WNDL_DW_PLACES = 4 };

struct wndl_dw_abbrev {
    uint32_t first_attr;
    uint32_t attr_count;
    uint32_t fixed_size;   /* bytes of all attributes, or WNDL_DW_VARIES */
    uint32_t sibling_at;   /* bytes before DW_AT_sibling, or WNDL_DW_VARIES */
    uint16_t sibling_form; /* 0 when it has none */
    uint8_t kind;          /* enum wndl_dw_die_kind */
    bool children;
    bool has_code; /* it has an attribute of its code's address */
    /*
     * If `fixed_size` is known, the attributes of code and sibling: the bytes
     * before each, and its index.
     */
    uint8_t place_count;
    uint8_t place_attr[WNDL_DW_PLACES];
    uint16_t place_at[WNDL_DW_PLACES];
};

/*
 * An abbreviation table. Codes in real files count from 1 without gaps; abbrev
 * i then has code i + 1, and `by_code` is empty. Otherwise by_code maps codes
 * to indices.
 */
struct wndl_dw_abbrevs {
    struct wndl_vec list;      /* struct wndl_dw_abbrev */
    struct wndl_vec attrs;     /* struct wndl_dw_attr */
    struct wndl_vec constants; /* int64_t: DW_FORM_implicit_const */
    struct wndl_map by_code;
    bool sparse;
};

/* A DIE, as far as it was read. */
struct wndl_dw_die {
    uint64_t offset;
    const struct wndl_dw_abbrevs *table; /* the table of abbrev */
    const struct wndl_dw_abbrev *abbrev; /* NULL: end of siblings */
    uint32_t has;                        /* bit per slot */
    struct wndl_dw_value slots[WNDL_DW_SLOTS];
};

/* Whether the DIE has that attribute, and it was read. */
static inline bool wndl_dw_has(
    const struct wndl_dw_die *die, enum wndl_dw_slot slot)
{
    return (die->has >> slot & 1) != 0;
}

/* Makes an empty table in `arena`. */
void wndl_dw_abbrevs_init(
    struct wndl_dw_abbrevs *table, struct wndl_arena *arena);

/*
 * Sets table and abbrev of `die`, the unit's root DIE with that code. The first
 * use does not read the whole table. NOT_FOUND: no such code.
 */
enum wndl_status wndl_dw_root_abbrev(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t code,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Sets unit->abbrevs. */
enum wndl_status wndl_dw_load_abbrevs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/* The abbreviation with that code; NULL if there is none. */
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

/* A cursor at `offset` of .debug_info that ends at the unit's end. */
struct wndl_cursor wndl_dw_cursor_at(const struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t offset);

/*
 * Reads the attributes of a DIE whose code was read, but fills only the slots
 * for the places of its code and its sibling.
 */
enum wndl_status wndl_dw_read_place(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Reads code and attributes. Damage when there is no DIE at the cursor. */
enum wndl_status wndl_dw_read_die(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Reads a code and sets die->offset and die->abbrev (NULL for 0). */
enum wndl_status wndl_dw_read_code(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die) WNDL_MUST_USE;

/* Reads the unit's root DIE. Damage when there is none. */
enum wndl_status wndl_dw_read_root_die(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_die *die) WNDL_MUST_USE;

/*
 * Skips the attributes of a DIE whose code was read. If *skipped is set and
 * there is a DW_AT_sibling, skips its children too; if there is none, *skipped
 * is cleared.
 */
enum wndl_status wndl_dw_skip_die(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    const struct wndl_dw_die *die, bool *skipped) WNDL_MUST_USE;

/* Moves `c` to the sibling that `die` names. */
enum wndl_status wndl_dw_go_to_sibling(struct wndl_dwarf *d,
    struct wndl_cursor *c, const struct wndl_dw_die *die,
    uint64_t sibling) WNDL_MUST_USE;

#endif
