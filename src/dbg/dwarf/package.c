/* SPDX-License-Identifier: MIT */
/*
 * A package has the sections of many .dwo files end to end, and an index of
 * each unit's part of each section (DWARF 5, 7.3.5).
 */
#include "base/status.h"
#include "dbg/dwarf/internal.h"

static const char *const SECTION = ".debug_cu_index";

/* The columns that are read: DWARF 5, 7.3.5.3, table 7.1; the GNU index is
 * version 2. */
enum column {
    IN_INFO = 1,
    IN_ABBREV = 3,
    IN_STR_OFFSETS = 6,
    IN_RNGLISTS = 8, /* in version 2 these are macros */
};

static enum wndl_status damaged(const struct wndl_dw_package *package,
    uint64_t offset, const char *what, struct wndl_error *err)
{
    wndl_error_set_file(err, package->in.path);
    return wndl_fail_at(err, WNDL_MALFORMED, SECTION, offset, what);
}

/* Version 2 has 4 bytes, version 5 has 2 and 2 of padding. */
static uint32_t read_version(struct wndl_cursor *c)
{
    struct wndl_cursor again = *c;
    uint32_t whole = wndl_cursor_u32(c);
    return whole == 2 ? whole : wndl_cursor_u16(&again);
}

/* Lays the tables out one after the other. */
static uint64_t place_tables(struct wndl_dw_package *p, uint64_t header_size)
{
    uint64_t row = 4 * (uint64_t)p->columns;
    p->hashes = header_size;
    p->rows = p->hashes + 8 * (uint64_t)p->slots;
    p->columns_at = p->rows + 4 * (uint64_t)p->slots;
    p->offsets = p->columns_at + row;
    p->sizes = p->offsets + row * p->units;
    return p->sizes + row * p->units;
}

enum wndl_status wndl_dw_read_package(
    struct wndl_dw_package *package, struct wndl_error *err)
{
    struct wndl_bytes index = package->in.cu_index;
    struct wndl_cursor c = wndl_cursor_at(index, 0, package->in.big_endian);
    package->version = read_version(&c);
    package->columns = wndl_cursor_u32(&c);
    package->units = wndl_cursor_u32(&c);
    package->slots = wndl_cursor_u32(&c);
    if (c.failed)
        return damaged(package, 0, "the index is shorter than its header", err);
    if (package->version != 2 && package->version != 5)
        return damaged(package, 0, "unknown version of index", err);
    bool is_hash =
        package->slots > 0 && (package->slots & (package->slots - 1)) == 0;
    /* No more columns than the tables know keeps the sums below 2^64. */
    if (!is_hash || package->columns > IN_RNGLISTS)
        return damaged(package, 0, "damaged header of the index", err);
    if (place_tables(package, wndl_cursor_offset(&c)) > index.size)
        return damaged(package, 0, "index runs past its section", err);
    return WNDL_OK;
}

static struct wndl_cursor at(const struct wndl_dw_package *p, uint64_t offset)
{
    return wndl_cursor_at(p->in.cu_index, offset, p->in.big_endian);
}

static uint32_t u32_at(const struct wndl_dw_package *p, uint64_t offset)
{
    struct wndl_cursor c = at(p, offset);
    return wndl_cursor_u32(&c);
}

/*
 * At most two thirds of the slots are used (DWARF 5, 7.3.5.3): a search takes a
 * few tries, and as many as this once in 10^22 times. Units do not overlap, but
 * a unit may be requested again.
 */
enum { MOST_TRIES = 128, MOST_GIVEN = 8 };

/* The row of `id`, counted from 1; 0 when it has none. */
static enum wndl_status find_row(const struct wndl_dw_package *p, uint64_t id,
    uint32_t *found, struct wndl_error *err)
{
    uint32_t mask = p->slots - 1;
    uint32_t slot = (uint32_t)id & mask;
    uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
    uint32_t most = p->slots < MOST_TRIES ? p->slots : MOST_TRIES;
    for (uint32_t tries = 0; tries < most; tries++) {
        struct wndl_cursor hash = at(p, p->hashes + 8 * (uint64_t)slot);
        uint64_t here = wndl_cursor_u64(&hash);
        uint32_t row = u32_at(p, p->rows + 4 * (uint64_t)slot);
        *found = row;
        if (here == id || (here == 0 && row == 0))
            return WNDL_OK;
        slot = (slot + step) & mask;
    }
    *found = 0;
    if (most == p->slots)
        return WNDL_OK;
    return damaged(p, p->hashes, "the index is too full to find units in", err);
}

/* Only a malicious file has many units with the same bytes. */
static enum wndl_status count_given(struct wndl_dw_package *p,
    const struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    p->given += sections->info.size;
    if (p->given / MOST_GIVEN <= p->in.info.size)
        return WNDL_OK;
    return damaged(p, p->offsets, "units share their parts of sections", err);
}

static struct wndl_bytes *section_of(const struct wndl_dw_package *p,
    uint32_t column, struct wndl_dwarf_sections *sections)
{
    switch (column) {
    case IN_INFO:
        return &sections->info;
    case IN_ABBREV:
        return &sections->abbrev;
    case IN_STR_OFFSETS:
        return &sections->str_offsets;
    case IN_RNGLISTS:
        return p->version >= 5 ? &sections->rnglists : NULL;
    default:
        return NULL;
    }
}

/* A cell of the index: where a unit's part of a section is said to be. */
struct part {
    struct wndl_bytes section;
    uint32_t column;
    uint32_t offset;
    uint32_t size;
};

/*
 * Whether a unit with the id or a table of its own header begins there and has
 * the part's size. A unit has its id in the header from version 5 on.
 */
static bool begins_at(const struct wndl_dw_package *p, const struct part *part,
    uint64_t id, uint64_t offset)
{
    struct wndl_cursor c =
        wndl_cursor_at(part->section, offset, p->in.big_endian);
    uint64_t length = wndl_cursor_u32(&c);
    bool wide = length == UINT32_MAX;
    if (wide)
        length = wndl_cursor_u64(&c);
    if (length != part->size - (wide ? 12 : 4))
        return false;
    unsigned version = wndl_cursor_u16(&c);
    if (version != 5 || part->column != IN_INFO)
        return !c.failed && version >= 2 && version <= 5;
    wndl_cursor_skip(&c, 2 + (wide ? 8 : 4)); /* type, sizes, abbreviations */
    return wndl_cursor_u64(&c) == id && !c.failed;
}

/*
 * Offsets in packages over 4 GB lack their upper bits: parts that have a header
 * are known by it. Abbreviations have none, nor have string offsets before
 * version 5.
 */
static uint64_t find_part(
    const struct wndl_dw_package *p, const struct part *part, uint64_t id)
{
    const uint64_t step = UINT64_C(1) << 32;
    for (uint64_t at = part->offset; at < part->section.size; at += step)
        if (begins_at(p, part, id, at))
            return at;
    return part->offset;
}

enum wndl_status wndl_dw_find_in_package(struct wndl_dw_package *package,
    uint64_t id, struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    uint32_t row;
    enum wndl_status status = find_row(package, id, &row, err);
    if (status != WNDL_OK)
        return status;
    if (row == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "not in the package");
    if (row > package->units)
        return damaged(package, package->rows, "row outside the index", err);
    *sections = package->in;
    sections->cu_index = (struct wndl_bytes){0};
    for (uint32_t i = 0; i < package->columns; i++) {
        uint64_t cell = 4 * ((uint64_t)package->columns * (row - 1) + i);
        uint32_t column =
            u32_at(package, package->columns_at + 4 * (uint64_t)i);
        struct wndl_bytes *section = section_of(package, column, sections);
        if (section == NULL)
            continue;
        const struct part part = {*section, column,
            u32_at(package, package->offsets + cell),
            u32_at(package, package->sizes + cell)};
        uint64_t offset = section->size > UINT32_MAX
                              ? find_part(package, &part, id)
                              : part.offset;
        *section = wndl_bytes_slice(*section, offset, part.size);
        if (section->size != part.size)
            return damaged(package, package->offsets + cell,
                "part of a section outside of it", err);
    }
    return count_given(package, sections, err);
}
