/* SPDX-License-Identifier: MIT */
/*
 * .debug_aranges is asked first because it saves reading every root DIE, but
 * it may lack units and be wrong: only an answer with a function in it is
 * taken from there.
 */
#include "dbg/dwarf_internal.h"

/* One set of .debug_aranges being read (DWARF 5, 6.1.2). */
struct set {
    struct wndl_dwarf *d;
    struct wndl_cursor c;
    uint32_t unit;
    uint8_t address_size;
};

static uint64_t read_address(struct set *set)
{
    return set->address_size == 4 ? wndl_cursor_u32(&set->c)
                                  : wndl_cursor_u64(&set->c);
}

/* Header to first entry. False for a set about a unit that we do not have. */
static bool read_set_header(struct set *set, uint64_t at, bool is_64)
{
    uint16_t version = wndl_cursor_u16(&set->c);
    uint64_t offset =
        is_64 ? wndl_cursor_u64(&set->c) : wndl_cursor_u32(&set->c);
    set->address_size = wndl_cursor_u8(&set->c);
    uint8_t segment_size = wndl_cursor_u8(&set->c);
    const struct wndl_dw_unit *unit = wndl_dw_unit_of(set->d, offset);
    if (set->c.failed || version != 2 || segment_size != 0 || unit == NULL ||
        unit->root_state == WNDL_DW_UNIT_LOST || unit->offset != offset ||
        set->address_size != unit->encoding.address_size)
        return false;
    uint64_t tuple = 2u * set->address_size;
    uint64_t used = wndl_cursor_offset(&set->c) - at;
    wndl_cursor_skip(&set->c, (tuple - used % tuple) % tuple);
    set->unit = (uint32_t)(unit - wndl_dw_unit_at(set->d, 0));
    return true;
}

static enum wndl_status read_entries(struct set *set)
{
    const struct wndl_dw_unit *unit = wndl_dw_unit_at(set->d, set->unit);
    for (;;) {
        uint64_t start = read_address(set);
        uint64_t length = read_address(set);
        if (set->c.failed || (start == 0 && length == 0))
            return WNDL_OK;
        uint64_t end = start + length;
        if (end <= start || wndl_dw_is_tombstone(unit, start))
            continue;
        struct wndl_dw_range *slot = wndl_vec_push(&set->d->ranges);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = (struct wndl_dw_range){start, end, set->unit};
    }
}

/* A damaged set ends the hints, and nothing else. */
static enum wndl_status read_set(struct wndl_dwarf *d, struct wndl_cursor *c)
{
    uint64_t at = wndl_cursor_offset(c);
    uint64_t length = wndl_cursor_u32(c);
    bool is_64 = length == UINT32_MAX;
    if (is_64)
        length = wndl_cursor_u64(c);
    struct set set = {.d = d, .c = wndl_cursor_sub(c, length)};
    if (set.c.failed || !read_set_header(&set, at, is_64))
        return WNDL_OK;
    return read_entries(&set);
}

static enum wndl_status load_hints(struct wndl_dwarf *d)
{
    struct wndl_cursor c = wndl_cursor_at(d->in.aranges, 0, d->in.big_endian);
    enum wndl_status status = WNDL_OK;
    d->ranges.len = 0;
    while (status == WNDL_OK && wndl_cursor_left(&c) > 0)
        status = read_set(d, &c);
    if (status == WNDL_OK)
        status = wndl_dw_make_cover(d, &d->ranges, true, &d->hints);
    d->has_hints = status == WNDL_OK;
    return status;
}

enum wndl_status wndl_dw_hinted_unit(
    struct wndl_dwarf *d, uint64_t address, struct wndl_dw_unit **unit)
{
    enum wndl_status status = d->has_hints ? WNDL_OK : load_hints(d);
    if (status != WNDL_OK)
        return status;
    const struct wndl_dw_range *hint = wndl_dw_cover_find(&d->hints, address);
    if (hint == NULL)
        return WNDL_NOT_FOUND;
    *unit = wndl_dw_unit_at(d, hint->id);
    return WNDL_OK;
}

/* Adds the ranges of a root DIE to d->ranges. */
static enum wndl_status add_unit(struct wndl_dwarf *d, uint32_t index)
{
    struct wndl_dw_unit *unit = wndl_dw_unit_at(d, index);
    struct wndl_dw_die root;
    size_t first = d->ranges.len;
    enum wndl_status status = wndl_dw_load_root(d, unit, &root);
    if (status != WNDL_OK)
        return status;
    status = wndl_dw_add_ranges(d, unit, &root, index);
    if (status != WNDL_OK)
        d->ranges.len = first;
    else if (d->ranges.len == first && root.abbrev->children)
        d->has_unranged = unit->is_unranged = true;
    return wndl_dw_settle(d, unit, status);
}

static enum wndl_status load_unit_cover(struct wndl_dwarf *d)
{
    d->ranges.len = 0;
    for (size_t i = 0; i < d->units.len; i++) {
        if (wndl_dw_unit_at(d, i)->is_partial)
            continue;
        if (add_unit(d, (uint32_t)i) == WNDL_NOMEM)
            return WNDL_NOMEM;
    }
    enum wndl_status status =
        wndl_dw_make_cover(d, &d->ranges, true, &d->unit_cover);
    if (status != WNDL_OK)
        return status;
    struct wndl_vec kept = d->ranges;
    d->ranges = d->unit_ranges;
    d->unit_ranges = kept;
    d->has_unit_cover = true;
    return WNDL_OK;
}

/* Adds what functions say of a unit whose root DIE says nothing. */
static enum wndl_status add_funcs(struct wndl_dwarf *d, uint32_t index)
{
    struct wndl_dw_unit *unit = wndl_dw_unit_at(d, index);
    enum wndl_status status =
        wndl_dw_settle(d, unit, wndl_dw_load_all_funcs(d, unit));
    if (status != WNDL_OK)
        return status;
    const struct wndl_dw_cover *cover = &unit->funcs.cover;
    for (size_t i = 0; i < cover->count; i++) {
        struct wndl_dw_range *slot = wndl_vec_push(&d->unit_ranges);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = cover->segments[i];
        slot->id = index;
    }
    unit->is_unranged = false;
    return WNDL_OK;
}

static enum wndl_status add_unranged(struct wndl_dwarf *d)
{
    for (size_t i = 0; i < d->units.len; i++) {
        if (wndl_dw_unit_at(d, i)->is_unranged &&
            add_funcs(d, (uint32_t)i) == WNDL_NOMEM)
            return WNDL_NOMEM;
    }
    enum wndl_status status =
        wndl_dw_make_cover(d, &d->unit_ranges, true, &d->unit_cover);
    d->has_unranged = status != WNDL_OK;
    return status;
}

enum wndl_status wndl_dw_find_unit(
    struct wndl_dwarf *d, uint64_t address, struct wndl_dw_unit **unit)
{
    enum wndl_status status = d->has_unit_cover ? WNDL_OK : load_unit_cover(d);
    if (status != WNDL_OK)
        return status;
    const struct wndl_dw_range *found =
        wndl_dw_cover_find(&d->unit_cover, address);
    if (found == NULL && d->has_unranged) {
        status = add_unranged(d);
        if (status != WNDL_OK)
            return status;
        found = wndl_dw_cover_find(&d->unit_cover, address);
    }
    if (found == NULL)
        return WNDL_NOT_FOUND;
    *unit = wndl_dw_unit_at(d, found->id);
    return WNDL_OK;
}
