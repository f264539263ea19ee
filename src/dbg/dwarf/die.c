/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/internal.h"

struct wndl_cursor wndl_dw_cursor_at(const struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t offset)
{
    struct wndl_bytes upto = {d->in.info.data, (size_t)unit->end};
    return wndl_cursor_at(upto, offset, d->in.big_endian);
}

static inline struct wndl_dw_value read_attr(const struct wndl_dw_unit *unit,
    const struct wndl_dw_abbrevs *table, struct wndl_cursor *c,
    const struct wndl_dw_attr *attr)
{
    struct wndl_dw_value v = {0, attr->kind};
    if (attr->form == WNDL_DW_IMPLICIT_CONST)
        v.u = *(uint64_t *)wndl_vec_at(&table->constants, attr->arg);
    else if (attr->arg > 0 && attr->arg <= 8)
        v.u = wndl_dw_read_uint(c, attr->arg);
    else
        v = wndl_dw_read_form(c, attr->form, unit->encoding);
    if (v.kind == WNDL_DW_UNIT_REFERENCE)
        return (struct wndl_dw_value){unit->offset + v.u, WNDL_DW_REFERENCE};
    return v;
}

/* Reads the attributes of a DIE whose code was read. */
static enum wndl_status read_attrs(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die)
{
    const struct wndl_dw_abbrev *abbrev = die->abbrev;
    const struct wndl_dw_attr *attrs = die->table->attrs.data;
    die->has = 0;
    for (uint32_t i = 0; i < abbrev->attr_count; i++) {
        const struct wndl_dw_attr *attr = &attrs[abbrev->first_attr + i];
        if (attr->form == WNDL_DW_SKIP) {
            wndl_cursor_skip(c, attr->arg);
            continue;
        }
        struct wndl_dw_value v = read_attr(unit, die->table, c, attr);
        if (attr->slot == WNDL_DW_NO_SLOT)
            continue;
        die->slots[attr->slot] = v;
        die->has |= 1u << attr->slot;
    }
    if (c->failed)
        return wndl_dw_damage(
            d, ".debug_info", die->offset, "DIE runs past its unit");
    return WNDL_OK;
}

enum wndl_status wndl_dw_read_place(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die)
{
    const struct wndl_dw_abbrev *abbrev = die->abbrev;
    const struct wndl_dw_attr *attrs = die->table->attrs.data;
    if (abbrev->fixed_size == WNDL_DW_VARIES ||
        abbrev->place_count > WNDL_DW_PLACES)
        return read_attrs(d, unit, c, die);
    struct wndl_cursor start = *c;
    wndl_cursor_skip(c, abbrev->fixed_size);
    if (c->failed)
        return wndl_dw_damage(
            d, ".debug_info", die->offset, "DIE runs past its unit");
    die->has = 0;
    for (unsigned i = 0; i < abbrev->place_count; i++) {
        const struct wndl_dw_attr *attr =
            &attrs[abbrev->first_attr + abbrev->place_attr[i]];
        struct wndl_cursor at = start;
        wndl_cursor_skip(&at, abbrev->place_at[i]);
        die->slots[attr->slot] = read_attr(unit, die->table, &at, attr);
        die->has |= 1u << attr->slot;
    }
    return WNDL_OK;
}

enum wndl_status wndl_dw_read_code(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die)
{
    die->offset = wndl_cursor_offset(c);
    uint64_t code = wndl_cursor_uleb(c);
    if (c->failed)
        return wndl_dw_damage(
            d, ".debug_info", die->offset, "DIE runs past its unit");
    die->table = unit->abbrevs;
    die->abbrev = code == 0 ? NULL : wndl_dw_abbrev_of(unit->abbrevs, code);
    if (code != 0 && die->abbrev == NULL)
        return wndl_dw_damage(
            d, ".debug_info", die->offset, "unknown abbreviation");
    return WNDL_OK;
}

enum wndl_status wndl_dw_read_die(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_die *die)
{
    enum wndl_status status = wndl_dw_read_code(d, unit, c, die);
    if (status != WNDL_OK)
        return status;
    if (die->abbrev == NULL)
        return wndl_dw_damage(
            d, ".debug_info", die->offset, "no DIE where one is referred to");
    return read_attrs(d, unit, c, die);
}

enum wndl_status wndl_dw_read_root_die(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, struct wndl_dw_die *die)
{
    struct wndl_cursor c = wndl_dw_cursor_at(d, unit, unit->dies);
    die->offset = unit->dies;
    uint64_t code = wndl_cursor_uleb(&c);
    if (c.failed || code == 0)
        return wndl_dw_damage(
            d, ".debug_info", unit->dies, "unit without a root DIE");
    enum wndl_status status = wndl_dw_root_abbrev(d, unit, code, die);
    if (status == WNDL_NOT_FOUND)
        return wndl_dw_damage(
            d, ".debug_info", unit->dies, "unknown abbreviation");
    return status == WNDL_OK ? read_attrs(d, unit, &c, die) : status;
}

enum wndl_status wndl_dw_go_to_sibling(struct wndl_dwarf *d,
    struct wndl_cursor *c, const struct wndl_dw_die *die, uint64_t sibling)
{
    uint64_t here = wndl_cursor_offset(c);
    if (sibling < here || sibling - here > wndl_cursor_left(c))
        return wndl_dw_damage(d, ".debug_info", die->offset,
            "DW_AT_sibling does not point forward in the unit");
    wndl_cursor_skip(c, sibling - here);
    return WNDL_OK;
}

/* Straight to a sibling whose attribute is at a known distance. */
static enum wndl_status jump(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    const struct wndl_dw_die *die)
{
    const struct wndl_dw_abbrev *abbrev = die->abbrev;
    wndl_cursor_skip(c, abbrev->sibling_at);
    struct wndl_dw_value v =
        wndl_dw_read_form(c, abbrev->sibling_form, unit->encoding);
    if (c->failed || v.kind != WNDL_DW_UNIT_REFERENCE)
        return wndl_dw_damage(
            d, ".debug_info", die->offset, "damaged DW_AT_sibling");
    return wndl_dw_go_to_sibling(d, c, die, unit->offset + v.u);
}

enum wndl_status wndl_dw_skip_die(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_cursor *c,
    const struct wndl_dw_die *die, bool *skipped)
{
    const struct wndl_dw_abbrev *abbrev = die->abbrev;
    bool to_sibling = *skipped && abbrev->sibling_form != 0;
    *skipped = to_sibling;
    if (to_sibling && abbrev->sibling_at != WNDL_DW_VARIES)
        return jump(d, unit, c, die);
    if (!to_sibling && abbrev->fixed_size != WNDL_DW_VARIES) {
        wndl_cursor_skip(c, abbrev->fixed_size);
        return c->failed ? wndl_dw_damage(d, ".debug_info", die->offset,
                               "DIE runs past its unit")
                         : WNDL_OK;
    }
    struct wndl_dw_die read = *die;
    enum wndl_status status = read_attrs(d, unit, c, &read);
    if (status != WNDL_OK || !to_sibling)
        return status;
    return wndl_dw_go_to_sibling(d, c, die, read.slots[WNDL_DW_SIBLING].u);
}
