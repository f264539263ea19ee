/* SPDX-License-Identifier: MIT */
/* unit: unit headers and root DIEs; from an address to units. */
#ifndef WNDL_DBG_DWARF_UNIT_H
#define WNDL_DBG_DWARF_UNIT_H

#include "dbg/dwarf/die.h"
#include "dbg/dwarf/func.h"
#include "dbg/dwarf/line.h"

enum wndl_dw_root_state {
    WNDL_DW_ROOT_UNREAD,
    WNDL_DW_ROOT_READ,
    WNDL_DW_UNIT_LOST, /* damaged: gives no more answers */
};

struct wndl_dw_unit {
    uint64_t offset; /* of its header */
    uint64_t dies;   /* of its root DIE */
    uint64_t end;
    uint64_t abbrev_offset;
    uint32_t number; /* in the order in which they became known */
    struct wndl_dw_encoding encoding;
    uint8_t root_state; /* enum wndl_dw_root_state */
    bool is_partial;    /* no code of its own */
    bool is_counted;    /* as damaged */
    bool is_unranged;   /* root DIE without ranges: its functions' are used */
    bool is_ahead;      /* ahead.c is reading it */
    bool lines_tried;
    /* From the root DIE: */
    bool has_lines;
    bool has_rnglists_base;
    bool has_addr_base;
    uint16_t language; /* DW_LANG_*, 0: not known */
    struct wndl_bytes comp_dir;
    uint64_t stmt_list;
    uint64_t base; /* for range lists */
    uint64_t addr_base;
    uint64_t str_offsets_base;
    unsigned str_offset_size;    /* bytes of an offset there */
    uint64_t rnglists_base;      /* before version 5: added to DW_AT_ranges */
    struct wndl_dw_split *split; /* of a skeleton, else NULL */
    /* Set at the first use: */
    struct wndl_dw_abbrevs *abbrevs;
    struct wndl_dw_lines *lines;
    struct wndl_dw_funcs funcs;
};

/*
 * Makes all units known; before, only those become known that .debug_aranges
 * leads to. MALFORMED when there is no header.
 */
enum wndl_status wndl_dw_load_headers(struct wndl_dwarf *d) WNDL_MUST_USE;

/* Checks the first header. MALFORMED when there is none. */
enum wndl_status wndl_dw_check_first(struct wndl_dwarf *d) WNDL_MUST_USE;

/* The unit whose header is at `offset`. OK, NOT_FOUND, NOMEM. */
enum wndl_status wndl_dw_unit_starting_at(struct wndl_dwarf *d, uint64_t offset,
    struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* The header of a type unit, of .debug_types or of version 5. */
struct wndl_dw_type_header {
    bool is_type; /* else `unit` is another one, or is damaged */
    struct wndl_dw_unit unit;
    uint64_t signature;
    uint64_t type_at; /* the type's DIE, as offset into the section */
};

/*
 * Reads the header at `c`, which moves to the next unit; `in_types` says that
 * it is in .debug_types. Damage when the next unit cannot be found.
 */
enum wndl_status wndl_dw_next_type_unit(struct wndl_dwarf *d,
    struct wndl_cursor *c, bool in_types,
    struct wndl_dw_type_header *out) WNDL_MUST_USE;

/* Reads the root DIE, once. `die` may be NULL. */
enum wndl_status wndl_dw_load_root(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_die *die) WNDL_MUST_USE;

/* Reads root DIE and abbreviations. NOT_FOUND when the unit is lost. */
enum wndl_status wndl_dw_load_unit(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit) WNDL_MUST_USE;

/* The id of a skeleton or split unit whose root DIE is `root`; 0 if none. */
uint64_t wndl_dw_split_id(const struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *root);

/*
 * The unit that contains the DIE or header at `offset`. OK, NOT_FOUND, NOMEM.
 */
enum wndl_status wndl_dw_unit_of(struct wndl_dwarf *d, uint64_t offset,
    struct wndl_dw_unit **unit) WNDL_MUST_USE;

/* The unit for `address` in .debug_aranges, or NULL. A hint. */
enum wndl_status wndl_dw_hinted_unit(struct wndl_dwarf *d, uint64_t address,
    struct wndl_dw_unit **unit) WNDL_MUST_USE;

/*
 * The unit whose root DIE, or else whose functions, cover `address`. Without
 * `is_code` the ranges of a unit in .debug_aranges are taken as complete.
 */
enum wndl_status wndl_dw_find_unit(struct wndl_dwarf *d, uint64_t address,
    bool is_code, struct wndl_dw_unit **unit) WNDL_MUST_USE;

/*
 * After wndl_dw_find_unit, if units claim the same code: the next unit whose
 * root DIE covers `address`, among them that which was found. *from begins at
 * 0. False: there are no more.
 */
bool wndl_dw_next_claimant(struct wndl_dwarf *d, uint64_t address, size_t *from,
    struct wndl_dw_unit **unit);

#endif
