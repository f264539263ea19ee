/* SPDX-License-Identifier: MIT */
/* other: the files to which DWARF refers: supplementary, .dwo, package. */
#ifndef WNDL_DBG_DWARF_OTHER_H
#define WNDL_DBG_DWARF_OTHER_H

#include "dbg/dwarf/dwarf.h"
#include "dbg/dwarf/unit.h"

/*
 * The place of a skeleton unit's functions. While `dwarf` is NULL it is not
 * known; if `is_tried`, it never will be.
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
    uint64_t given; /* bytes of .debug_info.dwo in all units given so far */
};

/* Reads the header of the index in package->in. */
enum wndl_status wndl_dw_read_package(
    struct wndl_dw_package *package, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The sections of the unit with this id. NOT_FOUND when there is none;
 * MALFORMED also when a search in the index, or in the units that it lists,
 * would cost more than its size allows.
 */
enum wndl_status wndl_dw_find_in_package(struct wndl_dw_package *package,
    uint64_t id, struct wndl_dwarf_sections *sections,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The reader that opens another file; `skeleton` is set only for a .dwo file.
 */
struct wndl_dw_referrer {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *skeleton;
};

/* Opens `sections` as one of d->others. */
enum wndl_status wndl_dw_open_other(struct wndl_dwarf *d,
    struct wndl_dwarf_sections *sections, const struct wndl_dw_unit *skeleton,
    struct wndl_dwarf **out, struct wndl_error *err) WNDL_MUST_USE;

/* Counts a missing file, with the reason `err`. */
void wndl_dw_note_missing(struct wndl_dwarf *d, const struct wndl_error *err);

/*
 * Opens d->supplementary, once. OK also when it is missing, which is counted.
 */
enum wndl_status wndl_dw_load_supplementary(struct wndl_dwarf *d) WNDL_MUST_USE;

/*
 * Replaces a skeleton unit by the one in its .dwo file, if that exists; if it
 * is missing, that is counted. Any other unit stays. The unit is loaded. OK,
 * NOMEM, or NOT_FOUND when the given unit is lost.
 */
enum wndl_status wndl_dw_find_code(
    struct wndl_dwarf **d, struct wndl_dw_unit **unit) WNDL_MUST_USE;

#endif
