/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf_internal.h"

#include "base/status.h"

static const char *const SECTION = ".debug_info";

/* DWARF 5, 7.5.1, table 7.2. Before version 5 there are only compile units. */
enum unit_type {
    UT_COMPILE = 1,
    UT_TYPE = 2,
    UT_PARTIAL = 3,
    UT_SKELETON = 4,
    UT_SPLIT_COMPILE = 5,
    UT_SPLIT_TYPE = 6,
};

/* DWARF 5, 7.4. The escape 0xffffffff begins the 64-bit format. */
static uint64_t read_length(struct wndl_cursor *c, uint8_t *offset_size)
{
    uint32_t length = wndl_cursor_u32(c);
    *offset_size = length == UINT32_MAX ? 8 : 4;
    if (length == UINT32_MAX)
        return wndl_cursor_u64(c);
    if (length >= 0xfffffff0)
        wndl_cursor_fail(c);
    return length;
}

static uint64_t read_offset(struct wndl_cursor *c, uint8_t offset_size)
{
    return offset_size == 8 ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
}

/* What comes after the version. Returns the unit type. */
static unsigned read_rest(struct wndl_cursor *c, struct wndl_dw_unit *unit)
{
    struct wndl_dw_encoding *e = &unit->encoding;
    unsigned type = UT_COMPILE;
    if (e->version >= 5) {
        type = wndl_cursor_u8(c);
        e->address_size = wndl_cursor_u8(c);
        unit->abbrev_offset = read_offset(c, e->offset_size);
    } else {
        unit->abbrev_offset = read_offset(c, e->offset_size);
        e->address_size = wndl_cursor_u8(c);
    }
    if (type == UT_SKELETON)
        wndl_cursor_skip(c, 8); /* dwo_id */
    unit->dies = wndl_cursor_offset(c);
    unit->is_partial = type == UT_PARTIAL;
    return type;
}

/*
 * Keeps the unit or counts why not. A skeleton is kept for its lines, but its
 * functions are elsewhere, so it counts as skipped as well.
 */
static enum wndl_status sort_in(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, unsigned type, bool failed)
{
    uint8_t size = unit->encoding.address_size;
    if (type == UT_TYPE || type == UT_SPLIT_COMPILE || type == UT_SPLIT_TYPE ||
        type == UT_SKELETON || type > UT_SPLIT_TYPE || type == 0)
        d->stats.units_skipped++;
    if (type != UT_COMPILE && type != UT_PARTIAL && type != UT_SKELETON)
        return WNDL_OK;
    struct wndl_dw_unit *slot = wndl_vec_push(&d->units);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = *unit;
    if (!failed && (size == 4 || size == 8))
        return WNDL_OK;
    return wndl_dw_settle(d, slot,
        wndl_dw_damage(d, SECTION, unit->offset,
            failed ? "unit header runs past the unit"
                   : "address size is neither 4 nor 8"));
}

/*
 * The header at `c`, which moves to the next unit. Damage only when the
 * length is, so that the next unit cannot be found.
 */
static enum wndl_status read_header(struct wndl_dwarf *d, struct wndl_cursor *c)
{
    struct wndl_dw_unit unit = {.offset = wndl_cursor_offset(c)};
    uint64_t length = read_length(c, &unit.encoding.offset_size);
    struct wndl_cursor body = wndl_cursor_sub(c, length);
    if (c->failed)
        return wndl_dw_damage(
            d, SECTION, unit.offset, "unit runs past the section");
    unit.end = wndl_cursor_offset(c);
    uint16_t version = wndl_cursor_u16(&body);
    d->stats.units++;
    if (!body.failed && (version < 2 || version > 5)) {
        d->stats.units_skipped++;
        return WNDL_OK;
    }
    unit.encoding.version = (uint8_t)version;
    unsigned type = read_rest(&body, &unit);
    enum wndl_status status =
        sort_in(d, &unit, body.failed ? UT_COMPILE : type, body.failed);
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

enum wndl_status wndl_dw_read_headers(struct wndl_dwarf *d)
{
    struct wndl_cursor c = wndl_cursor_at(d->in.info, 0, d->in.big_endian);
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK && wndl_cursor_left(&c) > 0)
        status = read_header(d, &c);
    if (status == WNDL_OK || status == WNDL_NOMEM || d->stats.units == 0)
        return status;
    d->stats.units_damaged++;
    if (d->stats.first_damage.status == WNDL_OK)
        d->stats.first_damage = d->detail;
    return WNDL_OK;
}

/* A root attribute that is an offset, or `otherwise`. */
static uint64_t offset_slot(
    const struct wndl_dw_die *die, enum wndl_dw_slot slot, uint64_t otherwise)
{
    return wndl_dw_has(die, slot) ? die->slots[slot].u : otherwise;
}

static enum wndl_status take_root(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, const struct wndl_dw_die *die)
{
    uint64_t header = unit->encoding.offset_size == 8 ? 16 : 8;
    unit->has_addr_base = wndl_dw_has(die, WNDL_DW_ADDR_BASE);
    unit->addr_base = offset_slot(die, WNDL_DW_ADDR_BASE, 0);
    unit->str_offsets_base = offset_slot(die, WNDL_DW_STR_OFFSETS_BASE, header);
    unit->has_rnglists_base = wndl_dw_has(die, WNDL_DW_RNGLISTS_BASE);
    unit->rnglists_base = offset_slot(die, WNDL_DW_RNGLISTS_BASE, 0);
    unit->has_lines = wndl_dw_has(die, WNDL_DW_STMT_LIST);
    unit->stmt_list = offset_slot(die, WNDL_DW_STMT_LIST, 0);
    enum wndl_status status = WNDL_OK;
    if (wndl_dw_has(die, WNDL_DW_COMP_DIR))
        status = wndl_dw_string(
            d, unit, die->slots[WNDL_DW_COMP_DIR], d->in.info, &unit->comp_dir);
    if (status == WNDL_OK && wndl_dw_has(die, WNDL_DW_LOW_PC))
        status =
            wndl_dw_address(d, unit, die->slots[WNDL_DW_LOW_PC], &unit->base);
    /* The GNU form of split DWARF 4, whose functions are in a .dwo file. */
    if (wndl_dw_has(die, WNDL_DW_DWO_NAME) && unit->encoding.version < 5)
        d->stats.units_skipped++;
    return status;
}

static enum wndl_status read_root(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, struct wndl_dw_die *die)
{
    enum wndl_status status = wndl_dw_read_root_die(d, unit, die);
    if (status == WNDL_OK && die->abbrev->kind != WNDL_DW_DIE_UNIT)
        status = wndl_dw_damage(
            d, SECTION, unit->dies, "the root DIE is not a unit");
    if (status == WNDL_OK && unit->root_state == WNDL_DW_ROOT_UNREAD)
        status = take_root(d, unit, die);
    if (status == WNDL_OK)
        unit->root_state = WNDL_DW_ROOT_READ;
    return wndl_dw_settle(d, unit, status);
}

enum wndl_status wndl_dw_load_root(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, struct wndl_dw_die *die)
{
    struct wndl_dw_die own;
    if (unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_NOT_FOUND;
    if (unit->root_state == WNDL_DW_ROOT_READ && die == NULL)
        return WNDL_OK;
    return read_root(d, unit, die == NULL ? &own : die);
}

/* Abbreviations first: the root DIE is read through them then. */
enum wndl_status wndl_dw_load_unit(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_dw_settle(d, unit, wndl_dw_load_abbrevs(d, unit));
    return status == WNDL_OK ? wndl_dw_load_root(d, unit, NULL) : status;
}

struct wndl_dw_unit *wndl_dw_unit_of(
    const struct wndl_dwarf *d, uint64_t offset)
{
    size_t low = 0;
    size_t high = d->units.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (wndl_dw_unit_at(d, mid)->end <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    struct wndl_dw_unit *unit =
        low < d->units.len ? wndl_dw_unit_at(d, low) : NULL;
    return unit != NULL && unit->offset <= offset ? unit : NULL;
}
