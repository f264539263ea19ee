/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/internal.h"

#include "base/status.h"

#include <string.h>

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

/* Bytes that Linux maps around a place that is read. */
enum { MAPPED_AROUND = 64 * 1024 };

/* The last thing in the header of a skeleton or split unit of version 5. */
enum { DWO_ID_SIZE = 8 };

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

/* Reads the part after the version. Returns the unit type. */
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
    if (type == UT_SKELETON || type == UT_SPLIT_COMPILE)
        wndl_cursor_skip(c, DWO_ID_SIZE);
    unit->dies = wndl_cursor_offset(c);
    unit->is_partial = type == UT_PARTIAL;
    return type;
}

/* Split units are used only through the skeletons of another file. */
static bool is_wanted(const struct wndl_dwarf *d, unsigned type)
{
    if (d->skeleton != NULL && type == UT_SPLIT_COMPILE)
        return true;
    return type == UT_COMPILE || type == UT_PARTIAL || type == UT_SKELETON;
}

/* The index of the first known unit that ends after `offset`. */
static size_t first_after(const struct wndl_dwarf *d, uint64_t offset)
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
    return low;
}

static struct wndl_dw_unit *known_unit(
    const struct wndl_dwarf *d, uint64_t offset)
{
    size_t index = first_after(d, offset);
    struct wndl_dw_unit *unit =
        index < d->units.len ? wndl_dw_unit_at(d, index) : NULL;
    return unit != NULL && unit->offset <= offset ? unit : NULL;
}

/* A unit whose header was read. */
struct header {
    struct wndl_dw_unit unit;
    unsigned type; /* enum unit_type */
    bool is_wanted;
    bool failed; /* cut off */
};

/*
 * Makes the header a unit of `d`, to be listed; the unit is lost if the header
 * is damaged.
 */
static enum wndl_status make_unit(struct wndl_dwarf *d,
    const struct header *header, struct wndl_dw_unit **unit)
{
    uint8_t size = header->unit.encoding.address_size;
    *unit = wndl_arena_alloc(d->arena, sizeof **unit);
    if (*unit == NULL)
        return WNDL_NOMEM;
    **unit = header->unit;
    (*unit)->number = d->units_made++;
    if (!header->failed && (size == 4 || size == 8))
        return WNDL_OK;
    enum wndl_status status = wndl_dw_damage(d, SECTION, header->unit.offset,
        header->failed ? "unit header runs past the unit"
                       : "address size is neither 4 nor 8");
    status = wndl_dw_lose_if_damaged(d, *unit, status);
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

/* Bytes that a unit has at least after its length (DWARF 4, 7.5.1.1): its
 * version, the offset of its abbreviations, the size of addresses. */
enum { LEAST = 2 + 4 + 1 };

/*
 * The header at `c`, which moves to the next unit. Fails only if the length is
 * damaged, so that the next unit cannot be found.
 */
static enum wndl_status read_header(
    struct wndl_dwarf *d, struct wndl_cursor *c, struct header *header)
{
    struct wndl_dw_unit *unit = &header->unit;
    *header = (struct header){.unit.offset = wndl_cursor_offset(c)};
    uint64_t length = read_length(c, &unit->encoding.offset_size);
    struct wndl_cursor body = wndl_cursor_sub(c, length);
    if (c->failed)
        return wndl_dw_damage(
            d, SECTION, unit->offset, "unit runs past the section");
    if (length < LEAST)
        return wndl_dw_damage(
            d, SECTION, unit->offset, "unit shorter than its header");
    unit->end = wndl_cursor_offset(c);
    uint16_t version = wndl_cursor_u16(&body);
    if (!body.failed && (version < 2 || version > 5))
        return WNDL_OK;
    unit->encoding.version = (uint8_t)version;
    unsigned type = read_rest(&body, unit);
    header->type = type;
    header->failed = body.failed;
    header->is_wanted = body.failed || is_wanted(d, type);
    return WNDL_OK;
}

enum wndl_status wndl_dw_next_type_unit(struct wndl_dwarf *d,
    struct wndl_cursor *c, bool in_types, struct wndl_dw_type_header *out)
{
    struct header header;
    const struct wndl_cursor start = *c;
    enum wndl_status status = read_header(d, c, &header);
    *out = (struct wndl_dw_type_header){.unit = header.unit};
    if (status != WNDL_OK || header.failed || header.unit.dies == 0 ||
        (header.type != UT_TYPE && !in_types))
        return status;
    struct wndl_cursor rest = start;
    wndl_cursor_skip(&rest, header.unit.dies - wndl_cursor_offset(&rest));
    out->signature = wndl_cursor_u64(&rest);
    out->type_at = header.unit.offset +
                   read_offset(&rest, header.unit.encoding.offset_size);
    out->unit.dies = wndl_cursor_offset(&rest);
    const uint8_t size = header.unit.encoding.address_size;
    out->is_type = !rest.failed && (size == 4 || size == 8) &&
                   out->type_at >= out->unit.dies &&
                   out->type_at < out->unit.end;
    return WNDL_OK;
}

static bool list_unit(struct wndl_vec *units, struct wndl_dw_unit *unit)
{
    struct wndl_dw_unit **slot = wndl_vec_push(units);
    if (slot == NULL)
        return false;
    *slot = unit;
    return true;
}

/* Adds the unit at `c`, known or new, to `all`, or counts why it cannot. */
static enum wndl_status add_unit(
    struct wndl_dwarf *d, struct wndl_cursor *c, struct wndl_vec *all)
{
    uint64_t offset = wndl_cursor_offset(c);
    struct wndl_dw_unit *unit = known_unit(d, offset);
    if (unit != NULL && unit->offset == offset) {
        wndl_cursor_skip(c, unit->end - offset);
        return list_unit(all, unit) ? WNDL_OK : WNDL_NOMEM;
    }
    struct header header;
    enum wndl_status status = read_header(d, c, &header);
    if (status != WNDL_OK)
        return status;
    uint64_t size = header.unit.end - offset;
    wndl_dw_release_pages_after(d, size < MAPPED_AROUND ? size : MAPPED_AROUND);
    d->stats.units++;
    if (!header.is_wanted) {
        d->stats.units_skipped++;
        return WNDL_OK;
    }
    status = make_unit(d, &header, &unit);
    if (status != WNDL_OK)
        return status;
    return list_unit(all, unit) ? WNDL_OK : WNDL_NOMEM;
}

/* Some linkers leave a few zeros between units; a hole in a file has more. */
static void skip_padding(struct wndl_cursor *c)
{
    enum { MOST = 1 << 20 };
    struct wndl_cursor ahead = *c;
    for (unsigned i = 0; i < MOST / 4 && wndl_cursor_left(&ahead) >= 4; i++) {
        if (wndl_cursor_u32(&ahead) != 0)
            return;
        *c = ahead;
    }
}

enum wndl_status wndl_dw_load_headers(struct wndl_dwarf *d)
{
    if (d->has_all_units)
        return WNDL_OK;
    struct wndl_vec all;
    struct wndl_cursor c = wndl_cursor_at(d->in.info, 0, d->in.big_endian);
    enum wndl_status status = WNDL_OK;
    wndl_vec_init(&all, d->arena, sizeof(struct wndl_dw_unit *));
    for (skip_padding(&c); status == WNDL_OK && wndl_cursor_left(&c) > 0;
         skip_padding(&c))
        status = add_unit(d, &c, &all);
    if (status == WNDL_NOMEM || (status != WNDL_OK && d->stats.units == 0))
        return status;
    d->units = all;
    d->has_all_units = true;
    if (status == WNDL_OK)
        return status;
    d->stats.units_damaged++;
    if (d->stats.first_damage.status == WNDL_OK)
        d->stats.first_damage = d->detail;
    return WNDL_OK;
}

enum wndl_status wndl_dw_check_first(struct wndl_dwarf *d)
{
    struct header header;
    struct wndl_cursor c = wndl_cursor_at(d->in.info, 0, d->in.big_endian);
    return read_header(d, &c, &header);
}

/* Lists a new unit in its place. False when memory is out. */
static bool insert_unit(
    struct wndl_dwarf *d, size_t index, struct wndl_dw_unit *unit)
{
    if (!list_unit(&d->units, unit))
        return false;
    struct wndl_dw_unit **units = d->units.data;
    memmove(units + index + 1, units + index,
        (d->units.len - 1 - index) * sizeof *units);
    units[index] = unit;
    return true;
}

enum wndl_status wndl_dw_unit_starting_at(
    struct wndl_dwarf *d, uint64_t offset, struct wndl_dw_unit **unit)
{
    *unit = known_unit(d, offset);
    if (*unit != NULL)
        return (*unit)->offset == offset ? WNDL_OK : WNDL_NOT_FOUND;
    struct header header;
    struct wndl_cursor c = wndl_cursor_at(d->in.info, offset, d->in.big_endian);
    if (d->has_all_units || wndl_cursor_left(&c) == 0 ||
        read_header(d, &c, &header) != WNDL_OK || !header.is_wanted)
        return WNDL_NOT_FOUND;
    /* Units do not overlap: this offset is inside one. */
    size_t index = first_after(d, offset);
    if (index < d->units.len &&
        wndl_dw_unit_at(d, index)->offset < header.unit.end)
        return WNDL_NOT_FOUND;
    d->stats.units++;
    enum wndl_status status = make_unit(d, &header, unit);
    if (status != WNDL_OK)
        return status;
    return insert_unit(d, index, *unit) ? WNDL_OK : WNDL_NOMEM;
}

enum wndl_status wndl_dw_unit_of(
    struct wndl_dwarf *d, uint64_t offset, struct wndl_dw_unit **unit)
{
    *unit = known_unit(d, offset);
    if (*unit == NULL && !d->has_all_units) {
        enum wndl_status status = wndl_dw_load_headers(d);
        if (status != WNDL_OK)
            return status;
        *unit = known_unit(d, offset);
    }
    return *unit == NULL ? WNDL_NOT_FOUND : WNDL_OK;
}

/* A root attribute that is an offset, or `otherwise`. */
static uint64_t offset_slot(
    const struct wndl_dw_die *die, enum wndl_dw_slot slot, uint64_t otherwise)
{
    return wndl_dw_has(die, slot) ? die->slots[slot].u : otherwise;
}

/*
 * In a .dwo file, whose units have no base, the header of string offsets says
 * how large they are: packages of more than 4 GB of strings have 64-bit offsets
 * for 32-bit units (DWARF 5, 7.26).
 */
static unsigned size_of_string_offsets(
    const struct wndl_dwarf *d, const struct wndl_dw_unit *unit)
{
    struct wndl_cursor c =
        wndl_cursor_at(d->in.str_offsets, 0, d->in.big_endian);
    uint32_t length = wndl_cursor_u32(&c);
    if (c.failed || unit->encoding.version < 5)
        return unit->encoding.offset_size;
    return length == UINT32_MAX ? 8 : 4;
}

/* DWARF 5, 7.26 and 7.28: bases that are missing are just after the headers. */
static void take_bases(const struct wndl_dwarf *d, struct wndl_dw_unit *unit,
    const struct wndl_dw_die *die)
{
    bool v5 = unit->encoding.version >= 5;
    unit->str_offset_size = wndl_dw_has(die, WNDL_DW_STR_OFFSETS_BASE)
                                ? unit->encoding.offset_size
                                : size_of_string_offsets(d, unit);
    uint64_t header = unit->str_offset_size == 8 ? 16 : 8;
    unit->has_addr_base = wndl_dw_has(die, WNDL_DW_ADDR_BASE);
    unit->addr_base = offset_slot(die, WNDL_DW_ADDR_BASE, 0);
    unit->str_offsets_base =
        offset_slot(die, WNDL_DW_STR_OFFSETS_BASE, v5 ? header : 0);
    unit->has_rnglists_base = wndl_dw_has(die, WNDL_DW_RNGLISTS_BASE);
    unit->rnglists_base = offset_slot(die, WNDL_DW_RNGLISTS_BASE, 0);
}

/* Copies what a unit in a .dwo file has from its skeleton (DWARF 5, 3.1.3). */
static void inherit(
    struct wndl_dw_unit *unit, const struct wndl_dw_unit *skeleton)
{
    bool v5 = unit->encoding.version >= 5;
    unit->has_addr_base = skeleton->has_addr_base;
    unit->addr_base = skeleton->addr_base;
    unit->base = skeleton->base;
    unit->has_rnglists_base = v5;
    unit->rnglists_base = skeleton->split->ranges_base;
    if (v5)
        unit->rnglists_base = unit->encoding.offset_size == 8 ? 20 : 12;
}

uint64_t wndl_dw_split_id(const struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, const struct wndl_dw_die *root)
{
    if (unit->encoding.version < 5)
        return offset_slot(root, WNDL_DW_DWO_ID, 0);
    uint64_t at = unit->dies < DWO_ID_SIZE ? 0 : unit->dies - DWO_ID_SIZE;
    struct wndl_cursor c = wndl_dw_cursor_at(d, unit, at);
    return wndl_cursor_u64(&c);
}

/* Sets unit->split: the functions are in a .dwo file. */
static enum wndl_status take_split(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, const struct wndl_dw_die *die)
{
    struct wndl_dw_split *split = wndl_arena_alloc(d->arena, sizeof *split);
    if (split == NULL)
        return WNDL_NOMEM;
    split->id = wndl_dw_split_id(d, unit, die);
    split->ranges_base = offset_slot(die, WNDL_DW_SPLIT_RANGES_BASE, 0);
    unit->split = split;
    return wndl_dw_string(
        d, unit, die->slots[WNDL_DW_DWO_NAME], d->in.info, &split->name);
}

static enum wndl_status take_root(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, const struct wndl_dw_die *die)
{
    take_bases(d, unit, die);
    if (d->skeleton != NULL)
        inherit(unit, d->skeleton);
    unit->is_partial |= die->abbrev->kind == WNDL_DW_DIE_PARTIAL_UNIT;
    unit->has_lines = wndl_dw_has(die, WNDL_DW_STMT_LIST);
    unit->stmt_list = offset_slot(die, WNDL_DW_STMT_LIST, 0);
    unit->language = (uint16_t)offset_slot(die, WNDL_DW_LANGUAGE, 0);
    enum wndl_status status = WNDL_OK;
    if (wndl_dw_has(die, WNDL_DW_COMP_DIR))
        status = wndl_dw_string(
            d, unit, die->slots[WNDL_DW_COMP_DIR], d->in.info, &unit->comp_dir);
    if (status == WNDL_OK && wndl_dw_has(die, WNDL_DW_LOW_PC))
        status =
            wndl_dw_address(d, unit, die->slots[WNDL_DW_LOW_PC], &unit->base);
    bool is_skeleton = d->skeleton == NULL && d->in.files != NULL;
    if (status == WNDL_OK && is_skeleton && wndl_dw_has(die, WNDL_DW_DWO_NAME))
        status = take_split(d, unit, die);
    return status;
}

static enum wndl_status read_root(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, struct wndl_dw_die *die)
{
    enum wndl_status status = wndl_dw_read_root_die(d, unit, die);
    if (status == WNDL_OK && die->abbrev->kind != WNDL_DW_DIE_UNIT &&
        die->abbrev->kind != WNDL_DW_DIE_PARTIAL_UNIT)
        status = wndl_dw_damage(
            d, SECTION, unit->dies, "the root DIE is not a unit");
    if (status == WNDL_OK && unit->root_state == WNDL_DW_ROOT_UNREAD)
        status = take_root(d, unit, die);
    if (status == WNDL_OK)
        unit->root_state = WNDL_DW_ROOT_READ;
    return wndl_dw_lose_if_damaged(d, unit, status);
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
        wndl_dw_lose_if_damaged(d, unit, wndl_dw_load_abbrevs(d, unit));
    return status == WNDL_OK ? wndl_dw_load_root(d, unit, NULL) : status;
}
