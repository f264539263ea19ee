/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/internal.h"

/* One list being read. */
struct list {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *unit;
    struct wndl_cursor c;
    const char *section;
    uint64_t at; /* of the list, for messages */
    uint64_t base;
    bool base_is_gone; /* the base address belongs to dropped code */
    uint32_t id;
};

static enum wndl_status damaged(const struct list *l, const char *what)
{
    return wndl_dw_damage(l->d, l->section, l->at, what);
}

static enum wndl_status add_range(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_range range)
{
    if (range.start >= range.end ||
        wndl_dw_is_tombstone(d, unit->encoding.address_size, range.start))
        return WNDL_OK;
    struct wndl_dw_range *slot = wndl_vec_push(&d->ranges);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = range;
    return WNDL_OK;
}

static enum wndl_status add_to(struct list *l, uint64_t start, uint64_t end)
{
    uint64_t max = wndl_dw_max_address(l->unit->encoding.address_size);
    return add_range(
        l->d, l->unit, (struct wndl_dw_range){start & max, end & max, l->id});
}

/*
 * Adds a range of offsets from the base address; none if its code was dropped.
 */
static enum wndl_status add_offsets(
    struct list *l, uint64_t start, uint64_t end)
{
    if (l->base_is_gone)
        return WNDL_OK;
    return add_to(l, l->base + start, l->base + end);
}

static void set_base(struct list *l, uint64_t base)
{
    l->base = base;
    l->base_is_gone =
        wndl_dw_is_tombstone(l->d, l->unit->encoding.address_size, base);
}

static uint64_t read_address(struct list *l)
{
    return l->unit->encoding.address_size == 4 ? wndl_cursor_u32(&l->c)
                                               : wndl_cursor_u64(&l->c);
}

/* An entry must be paid for before it is read. */
static enum wndl_status spend(struct list *l)
{
    if (l->d->budget.range_entries == 0)
        return damaged(l, "range lists are referred to too often");
    l->d->budget.range_entries--;
    return WNDL_OK;
}

/* DWARF 4, 2.17.3. NOT_FOUND at the end of the list. */
static enum wndl_status read_pair(struct list *l)
{
    uint64_t start = read_address(l);
    uint64_t end = read_address(l);
    if (l->c.failed)
        return damaged(l, "range list runs past the section");
    if (start == 0 && end == 0)
        return WNDL_NOT_FOUND;
    if (start != wndl_dw_max_address(l->unit->encoding.address_size))
        return add_offsets(l, start, end);
    set_base(l, end);
    return WNDL_OK;
}

static enum wndl_status read_indexed_address(struct list *l, uint64_t *out)
{
    uint64_t index = wndl_cursor_uleb(&l->c);
    return wndl_dw_address_at(l->d, l->unit, index, out);
}

/* DW_RLE_startx_endx and DW_RLE_startx_length. */
static enum wndl_status read_startx(struct list *l, bool has_length)
{
    uint64_t start = 0;
    uint64_t end = 0;
    enum wndl_status status = read_indexed_address(l, &start);
    if (status == WNDL_OK && !has_length)
        status = read_indexed_address(l, &end);
    else if (status == WNDL_OK)
        end = start + wndl_cursor_uleb(&l->c);
    return status == WNDL_OK ? add_to(l, start, end) : status;
}

/* DW_RLE_offset_pair, DW_RLE_start_end and DW_RLE_start_length. */
static enum wndl_status read_plain(struct list *l, unsigned kind)
{
    if (kind == 0x04) {
        uint64_t start = wndl_cursor_uleb(&l->c);
        return add_offsets(l, start, wndl_cursor_uleb(&l->c));
    }
    uint64_t start = read_address(l);
    if (kind == 0x06)
        return add_to(l, start, read_address(l));
    return add_to(l, start, start + wndl_cursor_uleb(&l->c));
}

/* DWARF 5, 7.25. NOT_FOUND at the end of the list. */
static enum wndl_status read_kind(struct list *l, unsigned kind)
{
    uint64_t base = 0;
    enum wndl_status status;
    switch (kind) {
    case 0x00: /* DW_RLE_end_of_list */
        return WNDL_NOT_FOUND;
    case 0x01: /* DW_RLE_base_addressx */
        status = read_indexed_address(l, &base);
        set_base(l, base);
        return status;
    case 0x02:
    case 0x03:
        return read_startx(l, kind == 0x03);
    case 0x04:
    case 0x06:
    case 0x07:
        return read_plain(l, kind);
    case 0x05: /* DW_RLE_base_address */
        set_base(l, read_address(l));
        return WNDL_OK;
    default:
        return damaged(l, "unknown kind of range list entry");
    }
}

static enum wndl_status read_rle(struct list *l)
{
    unsigned kind = wndl_cursor_u8(&l->c);
    if (l->c.failed)
        return damaged(l, "range list runs past the section");
    enum wndl_status status = read_kind(l, kind);
    if (l->c.failed && status != WNDL_NOMEM)
        return damaged(l, "range list runs past the section");
    return status;
}

static enum wndl_status read_list(struct list *l)
{
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK) {
        status = spend(l);
        if (status == WNDL_OK)
            status =
                l->unit->encoding.version >= 5 ? read_rle(l) : read_pair(l);
    }
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

/* The offset of list `index` in .debug_rnglists (DWARF 5, 7.28). */
static enum wndl_status list_offset(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t index, uint64_t *offset)
{
    unsigned size = unit->encoding.offset_size;
    uint64_t at;
    if (!unit->has_rnglists_base)
        return wndl_dw_damage(d, ".debug_info", unit->dies,
            "range list index in a unit without DW_AT_rnglists_base");
    if (__builtin_mul_overflow(index, size, &at) ||
        __builtin_add_overflow(at, unit->rnglists_base, &at))
        at = UINT64_MAX;
    struct wndl_cursor c = wndl_cursor_at(d->in.rnglists, at, d->in.big_endian);
    *offset = unit->rnglists_base + wndl_cursor_uint(&c, size);
    if (c.failed)
        return wndl_dw_damage(d, ".debug_rnglists", unit->rnglists_base,
            "range list index outside the section");
    return WNDL_OK;
}

static enum wndl_status add_list(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value, uint32_t id)
{
    bool v5 = unit->encoding.version >= 5;
    uint64_t offset = value.u;
    enum wndl_status status = WNDL_OK;
    if (value.kind == WNDL_DW_LIST_INDEX)
        status = list_offset(d, unit, value.u, &offset);
    else if (!v5)
        offset += unit->rnglists_base;
    if (status != WNDL_OK)
        return status;
    struct list l = {
        .d = d,
        .unit = unit,
        .c = wndl_cursor_at(
            v5 ? d->in.rnglists : d->in.ranges, offset, d->in.big_endian),
        .section = v5 ? ".debug_rnglists" : ".debug_ranges",
        .at = offset,
        .base = unit->base,
        .id = id,
    };
    return read_list(&l);
}

/* DW_AT_high_pc is an address, or a distance from DW_AT_low_pc. */
static enum wndl_status add_pair(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *die, uint32_t id)
{
    struct wndl_dw_value high = die->slots[WNDL_DW_HIGH_PC];
    uint64_t start;
    uint64_t end = high.u;
    enum wndl_status status =
        wndl_dw_address(d, unit, die->slots[WNDL_DW_LOW_PC], &start);
    if (status == WNDL_OK && high.kind == WNDL_DW_ADDRESS_INDEX)
        status = wndl_dw_address(d, unit, high, &end);
    else if (status == WNDL_OK && high.kind == WNDL_DW_NUMBER)
        end = start + high.u;
    if (status != WNDL_OK)
        return status;
    return add_range(d, unit, (struct wndl_dw_range){start, end, id});
}

enum wndl_status wndl_dw_add_ranges(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *die, uint32_t id)
{
    if (wndl_dw_has(die, WNDL_DW_RANGES))
        return add_list(d, unit, die->slots[WNDL_DW_RANGES], id);
    if (wndl_dw_has(die, WNDL_DW_LOW_PC) && wndl_dw_has(die, WNDL_DW_HIGH_PC))
        return add_pair(d, unit, die, id);
    return WNDL_OK;
}

uint64_t wndl_dw_lowest(const struct wndl_dwarf *d, size_t first)
{
    const struct wndl_dw_range *ranges = d->ranges.data;
    uint64_t lowest = UINT64_MAX;
    for (size_t i = first; i < d->ranges.len; i++) {
        if (ranges[i].start < lowest)
            lowest = ranges[i].start;
    }
    return lowest;
}
