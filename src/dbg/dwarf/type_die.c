/* SPDX-License-Identifier: MIT */
/*
 * The abbreviation tables of die.h leave out what functions and lines do not
 * need, so types have tables of their own.
 */
#include "dbg/dwarf/type_die.h"

#include "base/status.h"

/* One attribute of an abbreviation. */
struct attr {
    uint16_t form;
    uint8_t slot;    /* enum wndl_dw_type_slot; WNDL_DW_T_SLOTS: skipped */
    int64_t implied; /* the value of DW_FORM_implicit_const */
};

struct abbrev {
    uint32_t tag;
    bool children;
    uint32_t first, count; /* of the table's attributes */
};

struct wndl_dw_type_table {
    struct wndl_vec attrs;   /* struct attr */
    struct wndl_vec abbrevs; /* struct abbrev */
    struct wndl_map by_code; /* -> index + 1 */
};

/* Forms that are read in a way of their own. */
enum {
    FORM_BLOCK2 = 0x03,
    FORM_BLOCK4 = 0x04,
    FORM_BLOCK = 0x09,
    FORM_BLOCK1 = 0x0a,
    FORM_EXPRLOC = 0x18,
    FORM_FLAG = 0x0c,
    FORM_FLAG_PRESENT = 0x19,
    FORM_REF_SIG8 = 0x20,
};

static uint8_t slot_of(uint64_t attribute)
{
    switch (attribute) {
    case 0x01:
        return WNDL_DW_T_SIBLING;
    case 0x03:
        return WNDL_DW_T_NAME;
    case 0x0b:
        return WNDL_DW_T_BYTE_SIZE;
    case 0x0c:
        return WNDL_DW_T_BIT_OFFSET;
    case 0x0d:
        return WNDL_DW_T_BIT_SIZE;
    case 0x22:
        return WNDL_DW_T_LOWER_BOUND;
    case 0x2f:
        return WNDL_DW_T_UPPER_BOUND;
    case 0x31: /* abstract_origin */
    case 0x47: /* specification */
        return WNDL_DW_T_ORIGIN;
    case 0x37:
        return WNDL_DW_T_COUNT;
    case 0x38:
        return WNDL_DW_T_LOCATION;
    case 0x3b:
        return WNDL_DW_T_LINE;
    case 0x3c:
        return WNDL_DW_T_DECLARATION;
    case 0x3e:
        return WNDL_DW_T_ENCODING;
    case 0x49:
        return WNDL_DW_T_TYPE;
    case 0x69:
        return WNDL_DW_T_SIGNATURE;
    case 0x6b:
        return WNDL_DW_T_DATA_BIT_OFFSET;
    case 0x72:
        return WNDL_DW_T_STR_OFFSETS_BASE;
    default:
        return WNDL_DW_T_SLOTS;
    }
}

enum wndl_status wndl_dw_type_damage(
    const struct wndl_dw_type_unit *unit, uint64_t offset, const char *what)
{
    const bool in_info = unit->section.data == unit->d->in.info.data;
    return wndl_dw_damage(
        unit->d, in_info ? ".debug_info" : ".debug_types", offset, what);
}

enum wndl_status wndl_dw_type_lose(
    struct wndl_types *t, const struct wndl_dwarf *d, enum wndl_status status)
{
    if (status == WNDL_OK || status == WNDL_NOT_FOUND || status == WNDL_NOMEM)
        return status;
    if (t->damaged++ == 0) {
        t->first_damage = d->detail;
        wndl_error_set_file(&t->first_damage, d->in.path);
    }
    return WNDL_NOT_FOUND;
}

/* ---- abbreviations */

struct reading {
    struct wndl_types *t;
    struct wndl_dwarf *d;
    struct wndl_dw_encoding encoding;
    struct wndl_cursor c;
    struct wndl_dw_type_table *into;
};

static enum wndl_status damaged_table(struct reading *r, const char *what)
{
    return wndl_dw_damage(
        r->d, ".debug_abbrev", wndl_cursor_offset(&r->c), what);
}

/* NOT_FOUND at the pair of zeros that ends the attributes. */
static enum wndl_status read_attr(struct reading *r, struct abbrev *abbrev)
{
    const uint64_t attribute = wndl_cursor_uleb(&r->c);
    const uint64_t form = wndl_cursor_uleb(&r->c);
    const int64_t implied =
        form == WNDL_DW_IMPLICIT_CONST ? wndl_cursor_sleb(&r->c) : 0;
    if (r->c.failed)
        return damaged_table(r, "abbreviation runs past the section");
    if (attribute == 0 && form == 0)
        return WNDL_NOT_FOUND;
    if (form >= WNDL_DW_SKIP ||
        wndl_dw_form_size((unsigned)form, r->encoding) < 0)
        return damaged_table(r, "unknown attribute form");
    struct attr *attr = wndl_vec_push(&r->into->attrs);
    if (attr == NULL)
        return WNDL_NOMEM;
    *attr = (struct attr){(uint16_t)form, slot_of(attribute), implied};
    abbrev->count++;
    return WNDL_OK;
}

/* NOT_FOUND at the end of the table. */
static enum wndl_status read_abbrev(struct reading *r)
{
    const uint64_t code = wndl_cursor_uleb(&r->c);
    if (code == 0 && !r->c.failed)
        return WNDL_NOT_FOUND;
    struct abbrev abbrev = {.first = (uint32_t)r->into->attrs.len};
    const uint64_t tag = wndl_cursor_uleb(&r->c);
    abbrev.tag = tag > UINT32_MAX ? UINT32_MAX : (uint32_t)tag;
    abbrev.children = wndl_cursor_u8(&r->c) != 0;
    if (r->c.failed || r->into->attrs.len > UINT32_MAX / 2)
        return damaged_table(r, "abbreviation table has no end");
    enum wndl_status status;
    do
        status = read_attr(r, &abbrev);
    while (status == WNDL_OK);
    if (status != WNDL_NOT_FOUND)
        return status;
    uint64_t *index = wndl_map_put(&r->into->by_code, code);
    struct abbrev *added = wndl_vec_push(&r->into->abbrevs);
    if (index == NULL || added == NULL)
        return WNDL_NOMEM;
    *added = abbrev;
    if (*index == 0)
        *index = r->into->abbrevs.len;
    return WNDL_OK;
}

static enum wndl_status read_table(struct reading *r)
{
    const uint64_t start = wndl_cursor_offset(&r->c);
    enum wndl_status status =
        r->c.failed ? damaged_table(r, "abbreviations outside the section")
                    : WNDL_OK;
    while (status == WNDL_OK)
        status = read_abbrev(r);
    if (status != WNDL_NOT_FOUND)
        return status;
    const uint64_t bytes = wndl_cursor_offset(&r->c) - start;
    if (bytes > r->d->budget.abbrev_bytes)
        return damaged_table(r, "abbreviations are referred to too often");
    r->d->budget.abbrev_bytes -= bytes;
    return WNDL_OK;
}

/* Tables are shared by units of the same sizes of forms. */
static uint64_t table_key(
    const struct wndl_dwarf *d, const struct wndl_dw_unit *unit)
{
    const unsigned sizes = (unsigned)(unit->encoding.offset_size == 8) << 2 |
                           (unsigned)(unit->encoding.address_size == 8) << 1 |
                           (unsigned)(unit->encoding.version <= 2);
    const uint64_t at =
        (uint64_t)(uintptr_t)d->in.abbrev.data + unit->abbrev_offset;
    return at << 3 | sizes;
}

static enum wndl_status load_table(
    struct wndl_types *t, struct wndl_dw_type_unit *unit)
{
    uint64_t *known = wndl_map_put(&t->tables, table_key(unit->d, unit->unit));
    if (known == NULL)
        return WNDL_NOMEM;
    if (*known != 0) {
        unit->abbrevs = (struct wndl_dw_type_table *)(uintptr_t)*known;
        return WNDL_OK;
    }
    struct wndl_dw_type_table *table =
        wndl_arena_alloc(&t->arena, sizeof *table);
    if (table == NULL)
        return WNDL_NOMEM;
    wndl_vec_init(&table->attrs, &t->arena, sizeof(struct attr));
    wndl_vec_init(&table->abbrevs, &t->arena, sizeof(struct abbrev));
    wndl_map_init(&table->by_code, &t->arena);
    struct reading r = {
        .t = t,
        .d = unit->d,
        .encoding = unit->unit->encoding,
        .c = wndl_cursor_at(unit->d->in.abbrev, unit->unit->abbrev_offset,
            unit->d->in.big_endian),
        .into = table,
    };
    enum wndl_status status = read_table(&r);
    if (status != WNDL_OK)
        return status;
    unit->abbrevs = table;
    *known = (uint64_t)(uintptr_t)table;
    return WNDL_OK;
}

/* ---- values */

/* The offset that DWARF 2 and 3 write as DW_OP_plus_uconst. */
static struct wndl_dw_value read_location(struct wndl_cursor *c, unsigned form)
{
    enum { OP_PLUS_UCONST = 0x23 };
    struct wndl_dw_value v = {0, WNDL_DW_OTHER};
    const uint64_t size = form == FORM_BLOCK1   ? wndl_cursor_u8(c)
                          : form == FORM_BLOCK2 ? wndl_cursor_u16(c)
                          : form == FORM_BLOCK4 ? wndl_cursor_u32(c)
                                                : wndl_cursor_uleb(c);
    struct wndl_cursor block = wndl_cursor_sub(c, size);
    if (wndl_cursor_u8(&block) != OP_PLUS_UCONST)
        return v;
    v.u = wndl_cursor_uleb(&block);
    if (!block.failed && wndl_cursor_left(&block) == 0)
        v.kind = WNDL_DW_NUMBER;
    return v;
}

static bool is_block(unsigned form)
{
    return form == FORM_BLOCK1 || form == FORM_BLOCK2 || form == FORM_BLOCK4 ||
           form == FORM_BLOCK || form == FORM_EXPRLOC;
}

static struct wndl_dw_value read_value(const struct wndl_dw_type_unit *unit,
    struct wndl_cursor *c, const struct attr *attr)
{
    if (attr->form == WNDL_DW_IMPLICIT_CONST)
        return (struct wndl_dw_value){(uint64_t)attr->implied, WNDL_DW_NUMBER};
    if (attr->form == FORM_FLAG_PRESENT)
        return (struct wndl_dw_value){1, WNDL_DW_NUMBER};
    if (attr->slot == WNDL_DW_T_LOCATION && is_block(attr->form))
        return read_location(c, attr->form);
    struct wndl_dw_value v =
        wndl_dw_read_form(c, attr->form, unit->unit->encoding);
    if (attr->form == FORM_FLAG)
        v.kind = WNDL_DW_NUMBER;
    else if (attr->form == FORM_REF_SIG8)
        v.kind = WNDL_DW_SIGNATURE;
    return v;
}

struct wndl_cursor wndl_dw_type_cursor(
    const struct wndl_dw_type_unit *unit, uint64_t offset)
{
    return wndl_cursor_at(unit->section, offset, unit->d->in.big_endian);
}

enum wndl_status wndl_dw_read_type_die(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, struct wndl_cursor *c,
    struct wndl_dw_type_at *die)
{
    if (unit->is_lost)
        return WNDL_NOT_FOUND;
    if (unit->abbrevs == NULL) {
        enum wndl_status status = load_table(t, unit);
        unit->is_lost = status != WNDL_OK && status != WNDL_NOMEM;
        if (status != WNDL_OK)
            return status;
    }
    die->unit = unit;
    die->offset = wndl_cursor_offset(c);
    die->has = die->tag = 0;
    die->children = false;
    const uint64_t code = wndl_cursor_uleb(c);
    if (code == 0 && !c->failed)
        return WNDL_OK;
    const uint64_t *index = wndl_map_get(&unit->abbrevs->by_code, code);
    if (c->failed || index == NULL)
        return wndl_dw_type_damage(unit, die->offset,
            c->failed ? "DIE runs past its unit" : "unknown abbreviation");
    const struct abbrev *abbrev =
        wndl_vec_at(&unit->abbrevs->abbrevs, *index - 1);
    for (uint32_t i = 0; i < abbrev->count; i++) {
        const struct attr *attr =
            wndl_vec_at(&unit->abbrevs->attrs, abbrev->first + i);
        const struct wndl_dw_value v = read_value(unit, c, attr);
        if (attr->slot == WNDL_DW_T_SLOTS)
            continue;
        die->slots[attr->slot] = v;
        die->has |= 1u << attr->slot;
    }
    die->tag = abbrev->tag;
    die->children = abbrev->children;
    return c->failed ? wndl_dw_type_damage(
                           unit, die->offset, "DIE runs past its unit")
                     : WNDL_OK;
}

/* Whether there is a sibling to go to; damaged ones do not count. */
static bool go_to_sibling(
    const struct wndl_dw_type_at *die, struct wndl_cursor *c)
{
    const struct wndl_dw_value v = die->slots[WNDL_DW_T_SIBLING];
    if (!wndl_dw_type_has(die, WNDL_DW_T_SIBLING) ||
        v.kind != WNDL_DW_UNIT_REFERENCE)
        return false;
    const uint64_t to = die->unit->unit->offset + v.u;
    const uint64_t here = wndl_cursor_offset(c);
    if (to < here || to - here > wndl_cursor_left(c))
        return false;
    wndl_cursor_skip(c, to - here);
    return true;
}

enum wndl_status wndl_dw_skip_children(struct wndl_types *t,
    const struct wndl_dw_type_at *die, struct wndl_cursor *c)
{
    uint64_t depth = die->children ? 1 : 0;
    if (!die->children || go_to_sibling(die, c))
        return WNDL_OK;
    while (depth > 0 && wndl_cursor_left(c) > 0) {
        struct wndl_dw_type_at inner;
        enum wndl_status status =
            wndl_dw_read_type_die(t, die->unit, c, &inner);
        if (status != WNDL_OK)
            return status;
        if (inner.tag == 0)
            depth--;
        else if (inner.children && !go_to_sibling(&inner, c))
            depth++;
    }
    return WNDL_OK;
}

enum wndl_status wndl_dw_type_name(
    const struct wndl_dw_type_at *die, struct wndl_bytes *name)
{
    *name = (struct wndl_bytes){(const uint8_t *)"", 0};
    if (!wndl_dw_type_has(die, WNDL_DW_T_NAME))
        return WNDL_OK;
    return wndl_dw_string(die->unit->d, die->unit->unit,
        die->slots[WNDL_DW_T_NAME], die->unit->section, name);
}

/* ---- units */

static struct wndl_dw_type_unit *new_unit(
    struct wndl_types *t, struct wndl_dwarf *d, struct wndl_bytes section)
{
    struct wndl_dw_type_unit *unit = wndl_arena_alloc(&t->arena, sizeof *unit);
    if (unit != NULL)
        *unit = (struct wndl_dw_type_unit){.d = d, .section = section};
    return unit;
}

enum wndl_status wndl_dw_type_unit(struct wndl_types *t, struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_type_unit **out)
{
    enum wndl_status status = wndl_dw_load_root(d, unit, NULL);
    if (status != WNDL_OK)
        return status;
    uint64_t *known = wndl_map_put(&t->units, (uint64_t)(uintptr_t)unit);
    if (known == NULL)
        return WNDL_NOMEM;
    if (*known == 0) {
        struct wndl_dw_type_unit *made = new_unit(
            t, d, (struct wndl_bytes){d->in.info.data, (size_t)unit->end});
        if (made == NULL)
            return WNDL_NOMEM;
        made->unit = unit;
        *known = (uint64_t)(uintptr_t)made;
    }
    *out = (struct wndl_dw_type_unit *)(uintptr_t)*known;
    return WNDL_OK;
}

/* A type unit has no line table; strings alone need its root DIE. */
static enum wndl_status read_type_root(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, struct wndl_dw_unit *u)
{
    struct wndl_dw_type_at root;
    struct wndl_cursor c = wndl_dw_type_cursor(unit, u->dies);
    const bool is_large = u->encoding.offset_size == 8;
    u->str_offset_size = u->encoding.offset_size;
    u->str_offsets_base = u->encoding.version < 5 ? 0 : is_large ? 16 : 8;
    enum wndl_status status = wndl_dw_read_type_die(t, unit, &c, &root);
    if (status == WNDL_OK &&
        wndl_dw_type_has(&root, WNDL_DW_T_STR_OFFSETS_BASE))
        u->str_offsets_base = root.slots[WNDL_DW_T_STR_OFFSETS_BASE].u;
    return status;
}

static enum wndl_status add_type_unit(struct wndl_types *t,
    struct wndl_bytes section, const struct wndl_dw_type_header *header)
{
    struct wndl_bytes upto = {section.data, (size_t)header->unit.end};
    struct wndl_dw_type_unit *unit = new_unit(t, t->d, upto);
    struct wndl_dw_unit *own = wndl_arena_alloc(&t->arena, sizeof *own);
    if (unit == NULL || own == NULL)
        return WNDL_NOMEM;
    *own = header->unit;
    unit->unit = own;
    unit->type_at = header->type_at;
    enum wndl_status status = read_type_root(t, unit, own);
    if (status != WNDL_OK)
        return wndl_dw_type_lose(t, t->d, status) == WNDL_NOMEM ? WNDL_NOMEM
                                                                : WNDL_OK;
    struct wndl_dw_type_unit **slot = wndl_vec_push(&t->type_units);
    uint64_t *known = wndl_map_put(&t->signatures, header->signature);
    if (slot == NULL || known == NULL)
        return WNDL_NOMEM;
    *slot = unit;
    if (*known == 0)
        *known = (uint64_t)(uintptr_t)unit;
    return WNDL_OK;
}

/* Damage ends the section, and is counted. */
static enum wndl_status load_section(
    struct wndl_types *t, struct wndl_bytes section)
{
    struct wndl_cursor c = wndl_cursor_at(section, 0, t->d->in.big_endian);
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK && wndl_cursor_left(&c) > 0) {
        struct wndl_dw_type_header header;
        status = wndl_dw_next_type_unit(
            t->d, &c, section.data != t->d->in.info.data, &header);
        if (status == WNDL_OK && header.is_type)
            status = add_type_unit(t, section, &header);
    }
    status = wndl_dw_type_lose(t, t->d, status);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

enum wndl_status wndl_dw_load_type_units(struct wndl_types *t)
{
    if (t->has_type_units)
        return WNDL_OK;
    t->has_type_units = true;
    enum wndl_status status = load_section(t, t->d->in.info);
    return status == WNDL_OK ? load_section(t, t->d->in.types) : status;
}

/* ---- references */

static enum wndl_status refer_by_signature(struct wndl_types *t,
    uint64_t signature, struct wndl_dw_type_unit **unit, uint64_t *offset)
{
    enum wndl_status status = wndl_dw_load_type_units(t);
    if (status != WNDL_OK)
        return status;
    const uint64_t *known = wndl_map_get(&t->signatures, signature);
    if (known == NULL || *known == 0)
        return WNDL_NOT_FOUND;
    *unit = (struct wndl_dw_type_unit *)(uintptr_t)*known;
    *offset = (*unit)->type_at;
    return WNDL_OK;
}

static enum wndl_status refer_to_info(struct wndl_types *t,
    struct wndl_dwarf *d, uint64_t offset, struct wndl_dw_type_unit **unit)
{
    struct wndl_dw_unit *found;
    enum wndl_status status = wndl_dw_unit_of(d, offset, &found);
    if (status == WNDL_OK)
        status = wndl_dw_type_unit(t, d, found, unit);
    if (status == WNDL_NOT_FOUND)
        return wndl_dw_damage(
            d, ".debug_info", offset, "reference to a type that is in no unit");
    return status;
}

enum wndl_status wndl_dw_type_refer(struct wndl_types *t,
    const struct wndl_dw_type_unit *from, struct wndl_dw_value value,
    struct wndl_dw_type_unit **unit, uint64_t *offset)
{
    enum wndl_status status = WNDL_OK;
    *unit = (struct wndl_dw_type_unit *)from;
    *offset = value.u;
    if (value.kind == WNDL_DW_SIGNATURE)
        return refer_by_signature(t, value.u, unit, offset);
    if (value.kind == WNDL_DW_UNIT_REFERENCE) {
        *offset += from->unit->offset;
    } else if (value.kind == WNDL_DW_REFERENCE) {
        status = refer_to_info(t, from->d, value.u, unit);
    } else if (value.kind == WNDL_DW_SUP_REFERENCE) {
        status = wndl_dw_load_supplementary(from->d);
        if (status == WNDL_OK && from->d->supplementary == NULL)
            return WNDL_NOT_FOUND;
        if (status == WNDL_OK)
            status = refer_to_info(t, from->d->supplementary, value.u, unit);
    } else {
        return WNDL_NOT_FOUND;
    }
    if (status != WNDL_OK)
        return status;
    if (*offset < (*unit)->unit->dies || *offset >= (*unit)->section.size)
        return wndl_dw_type_damage(
            from, *offset, "reference to a type outside of its unit");
    return WNDL_OK;
}
