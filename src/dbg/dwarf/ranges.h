/* SPDX-License-Identifier: MIT */
/* ranges: range lists, and segments with one owner each. */
#ifndef WNDL_DBG_DWARF_RANGES_H
#define WNDL_DBG_DWARF_RANGES_H

#include "base/vec.h"
#include "dbg/dwarf/die.h"

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

/*
 * Makes segments of `ranges` (struct wndl_dw_range), each owned by the highest
 * id, or with `first_wins` by the lowest. Sorts `ranges`.
 */
enum wndl_status wndl_dw_make_cover(struct wndl_dwarf *d,
    struct wndl_vec *ranges, bool first_wins,
    struct wndl_dw_cover *cover) WNDL_MUST_USE;

/* The index of the first segment that ends after `address`. */
size_t wndl_dw_cover_after(const struct wndl_dw_cover *cover, uint64_t address);

/* The segment that holds `address`, or NULL. */
const struct wndl_dw_range *wndl_dw_cover_find(
    const struct wndl_dw_cover *cover, uint64_t address);

/*
 * Adds the ranges of `die`, with `id`, to d->ranges; having none is no error.
 * Ranges of dropped code are left out.
 */
enum wndl_status wndl_dw_add_ranges(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *die,
    uint32_t id) WNDL_MUST_USE;

/* Lowest start of d->ranges from index `first` on; UINT64_MAX if none. */
uint64_t wndl_dw_lowest(const struct wndl_dwarf *d, size_t first);

#endif
