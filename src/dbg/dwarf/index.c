/* SPDX-License-Identifier: MIT */
/*
 * .debug_aranges is asked first since it saves reading every root DIE. But it
 * may lack units and be wrong: an answer is used only if it has a function, or
 * if its unit has none at all. Units that it lacks are found by their root
 * DIEs. The root DIEs of all units are read only when it must be wrong: it has
 * the address, or the address is known to be code.
 */
#include "dbg/dwarf/internal.h"

/* A set of .debug_aranges that is being read (DWARF 5, 6.1.2). */
struct set {
    struct wndl_dwarf *d;
    struct wndl_cursor c;
    uint64_t unit; /* its offset */
    uint8_t address_size;
};

static uint64_t read_address(struct set *set)
{
    return set->address_size == 4 ? wndl_cursor_u32(&set->c)
                                  : wndl_cursor_u64(&set->c);
}

/* Header to first entry. False for a set that we cannot read. */
static bool read_set_header(struct set *set, uint64_t at, bool is_64)
{
    uint16_t version = wndl_cursor_u16(&set->c);
    set->unit = is_64 ? wndl_cursor_u64(&set->c) : wndl_cursor_u32(&set->c);
    set->address_size = wndl_cursor_u8(&set->c);
    uint8_t segment_size = wndl_cursor_u8(&set->c);
    if (set->c.failed || version != 2 || segment_size != 0 ||
        (set->address_size != 4 && set->address_size != 8))
        return false;
    uint64_t tuple = 2u * set->address_size;
    uint64_t used = wndl_cursor_offset(&set->c) - at;
    wndl_cursor_skip(&set->c, (tuple - used % tuple) % tuple);
    return true;
}

static enum wndl_status read_entries(struct set *set, uint32_t id)
{
    for (;;) {
        uint64_t start = read_address(set);
        uint64_t length = read_address(set);
        if (set->c.failed || (start == 0 && length == 0))
            return WNDL_OK;
        uint64_t end = start + length;
        if (end <= start ||
            wndl_dw_is_tombstone(set->d, set->address_size, start))
            continue;
        struct wndl_dw_range *slot = wndl_vec_push(&set->d->ranges);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = (struct wndl_dw_range){start, end, id};
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
    if (set.c.failed || !read_set_header(&set, at, is_64)) {
        wndl_cursor_fail(c);
        return WNDL_OK;
    }
    uint64_t *unit = wndl_vec_push(&d->hinted);
    if (unit == NULL)
        return WNDL_NOMEM;
    *unit = set.unit;
    return read_entries(&set, (uint32_t)(d->hinted.len - 1));
}

static enum wndl_status load_hints(struct wndl_dwarf *d)
{
    struct wndl_cursor c = wndl_cursor_at(d->in.aranges, 0, d->in.big_endian);
    enum wndl_status status = WNDL_OK;
    d->ranges.len = d->hinted.len = 0;
    while (status == WNDL_OK && wndl_cursor_left(&c) > 0)
        status = read_set(d, &c);
    if (status == WNDL_OK)
        status = wndl_dw_make_cover(d, &d->ranges, true, &d->hints);
    d->has_hints = status == WNDL_OK;
    return status;
}

/* NULL when there is no hint. */
static enum wndl_status find_hint(
    struct wndl_dwarf *d, uint64_t address, const struct wndl_dw_range **hint)
{
    *hint = NULL;
    enum wndl_status status = d->has_hints ? WNDL_OK : load_hints(d);
    if (status == WNDL_OK)
        *hint = wndl_dw_cover_find(&d->hints, address);
    return status;
}

enum wndl_status wndl_dw_hinted_unit(
    struct wndl_dwarf *d, uint64_t address, struct wndl_dw_unit **unit)
{
    const struct wndl_dw_range *hint;
    enum wndl_status status = find_hint(d, address, &hint);
    if (status != WNDL_OK)
        return status;
    if (hint == NULL)
        return WNDL_NOT_FOUND;
    uint64_t *offset = wndl_vec_at(&d->hinted, hint->id);
    return wndl_dw_unit_starting_at(d, *offset, unit);
}

uint32_t wndl_dwarf_likely_unit(struct wndl_dwarf *dwarf, wndl_svma addr)
{
    const struct wndl_dw_range *hint;
    if (find_hint(dwarf, addr.v, &hint) != WNDL_OK || hint == NULL)
        return UINT32_MAX;
    return hint->id;
}

/* Whether two units claim the same code; the ranges are sorted. */
static bool are_shared(const struct wndl_vec *ranges)
{
    const struct wndl_dw_range *last = NULL;
    for (size_t i = 0; i < ranges->len; i++) {
        const struct wndl_dw_range *range = wndl_vec_at(ranges, i);
        if (last != NULL && range->start < last->end && range->id != last->id)
            return true;
        if (last == NULL || range->end > last->end)
            last = range;
    }
    return false;
}

/* Adds the ranges of a root DIE to d->ranges. */
static enum wndl_status add_unit(struct wndl_dwarf *d, uint32_t index)
{
    struct wndl_dw_unit *unit = wndl_dw_unit_at(d, index);
    struct wndl_dw_die root;
    size_t first = d->ranges.len;
    enum wndl_status status = wndl_dw_load_root(d, unit, &root);
    if (status != WNDL_OK || unit->is_partial)
        return status;
    status = wndl_dw_add_ranges(d, unit, &root, index);
    if (status != WNDL_OK)
        d->ranges.len = first;
    else if (d->ranges.len == first && root.abbrev->children)
        d->has_unranged = unit->is_unranged = true;
    return wndl_dw_lose_if_damaged(d, unit, status);
}

/* The offsets of units that are in .debug_aranges. */
static enum wndl_status find_listed(
    struct wndl_dwarf *d, struct wndl_map *listed)
{
    for (size_t i = 0; i < d->hints.count; i++) {
        uint64_t *unit = wndl_vec_at(&d->hinted, d->hints.segments[i].id);
        uint64_t *known = wndl_map_put(listed, *unit);
        if (known == NULL)
            return WNDL_NOMEM;
        *known = 1;
    }
    return WNDL_OK;
}

static enum wndl_status add_units(
    struct wndl_dwarf *d, const struct wndl_map *but)
{
    d->ranges.len = 0;
    for (size_t i = 0; i < d->units.len; i++) {
        const struct wndl_dw_unit *unit = wndl_dw_unit_at(d, i);
        if (unit->is_partial || wndl_map_get(but, unit->offset) != NULL)
            continue;
        if (add_unit(d, (uint32_t)i) == WNDL_NOMEM)
            return WNDL_NOMEM;
    }
    return WNDL_OK;
}

/* Makes the cover of all units, or only of those that .debug_aranges lacks. */
static enum wndl_status load_unit_cover(struct wndl_dwarf *d, bool all)
{
    struct wndl_map listed;
    struct wndl_arena scratch;
    if (wndl_dw_load_headers(d) == WNDL_NOMEM)
        return WNDL_NOMEM;
    wndl_arena_init(&scratch, d->mem);
    wndl_map_init(&listed, &scratch);
    enum wndl_status status = all ? WNDL_OK : find_listed(d, &listed);
    if (status == WNDL_OK)
        status = add_units(d, &listed);
    wndl_arena_free(&scratch);
    if (status != WNDL_OK)
        return status;
    status = wndl_dw_make_cover(d, &d->ranges, true, &d->unit_cover);
    if (status != WNDL_OK)
        return status;
    struct wndl_vec kept = d->ranges;
    d->ranges = d->unit_ranges;
    d->unit_ranges = kept;
    d->has_shared_code = are_shared(&d->unit_ranges);
    d->has_unit_cover = true;
    d->covers_all_units = all;
    return WNDL_OK;
}

/* Adds the ranges of functions of a unit whose root DIE has none. */
static enum wndl_status add_funcs(struct wndl_dwarf *d, uint32_t index)
{
    struct wndl_dw_unit *unit = wndl_dw_unit_at(d, index);
    enum wndl_status status =
        wndl_dw_lose_if_damaged(d, unit, wndl_dw_load_all_funcs(d, unit));
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
    d->has_shared_code = are_shared(&d->unit_ranges);
    return status;
}

static enum wndl_status find_in_cover(
    struct wndl_dwarf *d, uint64_t address, const struct wndl_dw_range **found)
{
    *found = wndl_dw_cover_find(&d->unit_cover, address);
    if (*found != NULL || !d->has_unranged)
        return WNDL_OK;
    enum wndl_status status = add_unranged(d);
    if (status == WNDL_OK)
        *found = wndl_dw_cover_find(&d->unit_cover, address);
    return status;
}

enum wndl_status wndl_dw_find_unit(struct wndl_dwarf *d, uint64_t address,
    bool is_code, struct wndl_dw_unit **unit)
{
    const struct wndl_dw_range *hint;
    const struct wndl_dw_range *found = NULL;
    enum wndl_status status = find_hint(d, address, &hint);
    if (status == WNDL_OK && !d->has_unit_cover)
        status = load_unit_cover(d, d->hinted.len == 0);
    if (status == WNDL_OK)
        status = find_in_cover(d, address, &found);
    if (status == WNDL_OK && found == NULL && (is_code || hint != NULL) &&
        !d->covers_all_units) {
        status = load_unit_cover(d, true);
        if (status == WNDL_OK)
            status = find_in_cover(d, address, &found);
    }
    if (status != WNDL_OK)
        return status;
    if (found == NULL)
        return WNDL_NOT_FOUND;
    *unit = wndl_dw_unit_at(d, found->id);
    return WNDL_OK;
}

bool wndl_dw_next_claimant(struct wndl_dwarf *d, uint64_t address, size_t *from,
    struct wndl_dw_unit **unit)
{
    if (!d->has_shared_code)
        return false;
    for (size_t i = *from; i < d->unit_ranges.len; i++) {
        const struct wndl_dw_range *range = wndl_vec_at(&d->unit_ranges, i);
        if (range->start > address)
            return false;
        if (range->end <= address)
            continue;
        *from = i + 1;
        *unit = wndl_dw_unit_at(d, range->id);
        return true;
    }
    return false;
}
