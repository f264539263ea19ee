/* SPDX-License-Identifier: MIT */
/*
 * Abbreviation tables (DWARF 5, 7.5.3), and the steps by which DIEs are read.
 */
#include "dbg/dwarf/internal.h"

#include "base/status.h"

static const char *const SECTION = ".debug_abbrev";

static enum wndl_dw_die_kind kind_of(uint64_t tag)
{
    switch (tag) {
    case 0x11: /* compile_unit */
    case 0x4a: /* skeleton_unit */
        return WNDL_DW_DIE_UNIT;
    case 0x3c: /* partial_unit */
        return WNDL_DW_DIE_PARTIAL_UNIT;
    case 0x1e: /* module */
    case 0x39: /* namespace */
        return WNDL_DW_DIE_SCOPE;
    case 0x0b: /* lexical_block */
    case 0x22: /* with_stmt */
    case 0x25: /* catch_block */
    case 0x32: /* try_block */
        return WNDL_DW_DIE_BLOCK;
    case 0x2e: /* subprogram */
        return WNDL_DW_DIE_FUNCTION;
    case 0x1d: /* inlined_subroutine */
        return WNDL_DW_DIE_INLINED;
    default:
        return WNDL_DW_DIE_OTHER;
    }
}

/* DWARF 5, 7.5.4, table 7.5, and the GNU and MIPS names for the same. */
static enum wndl_dw_slot slot_of(uint64_t attribute)
{
    switch (attribute) {
    case 0x01:
        return WNDL_DW_SIBLING;
    case 0x03:
        return WNDL_DW_NAME;
    case 0x10:
        return WNDL_DW_STMT_LIST;
    case 0x11:
        return WNDL_DW_LOW_PC;
    case 0x12:
        return WNDL_DW_HIGH_PC;
    case 0x13:
        return WNDL_DW_LANGUAGE;
    case 0x1b:
        return WNDL_DW_COMP_DIR;
    case 0x31: /* abstract_origin */
    case 0x47: /* specification */
        return WNDL_DW_ORIGIN;
    case 0x55:
        return WNDL_DW_RANGES;
    case 0x57:
        return WNDL_DW_CALL_COLUMN;
    case 0x58:
        return WNDL_DW_CALL_FILE;
    case 0x59:
        return WNDL_DW_CALL_LINE;
    case 0x6e:
    case 0x2007: /* MIPS_linkage_name */
        return WNDL_DW_LINKAGE_NAME;
    case 0x72:
        return WNDL_DW_STR_OFFSETS_BASE;
    case 0x73:
    case 0x2133: /* GNU_addr_base */
        return WNDL_DW_ADDR_BASE;
    case 0x74:
        return WNDL_DW_RNGLISTS_BASE;
    case 0x76:
    case 0x2130: /* GNU_dwo_name */
        return WNDL_DW_DWO_NAME;
    case 0x2131: /* GNU_dwo_id */
        return WNDL_DW_DWO_ID;
    case 0x2132: /* GNU_ranges_base */
        return WNDL_DW_SPLIT_RANGES_BASE;
    default:
        return WNDL_DW_NO_SLOT;
    }
}

/* Whether a DIE of this kind is ever read for more than its sibling. */
static bool is_read(enum wndl_dw_die_kind kind)
{
    return kind == WNDL_DW_DIE_UNIT || kind == WNDL_DW_DIE_PARTIAL_UNIT ||
           kind == WNDL_DW_DIE_FUNCTION || kind == WNDL_DW_DIE_INLINED;
}

static enum wndl_dw_slot wanted_slot(
    const struct wndl_dw_abbrev *abbrev, uint64_t attribute)
{
    enum wndl_dw_slot slot = slot_of(attribute);
    if (slot == WNDL_DW_SIBLING)
        return abbrev->children ? slot : WNDL_DW_NO_SLOT;
    return is_read(abbrev->kind) ? slot : WNDL_DW_NO_SLOT;
}

/* One abbreviation table being read. */
struct reading {
    struct wndl_dwarf *d;
    struct wndl_cursor c;
    struct wndl_dw_encoding encoding;
    struct wndl_dw_abbrevs *into;
};

static enum wndl_status damaged(
    struct reading *r, uint64_t offset, const char *what)
{
    return wndl_dw_damage(r->d, SECTION, offset, what);
}

/* Adds `size` bytes to the skip at the end of `abbrev`, or begins one. */
static bool add_skip(
    struct reading *r, struct wndl_dw_abbrev *abbrev, uint32_t size)
{
    struct wndl_vec *attrs = &r->into->attrs;
    if (size == 0)
        return true;
    if (abbrev->attr_count > 0) {
        struct wndl_dw_attr *last = wndl_vec_at(attrs, attrs->len - 1);
        if (last->form == WNDL_DW_SKIP && last->arg < UINT32_MAX - size) {
            last->arg += size;
            return true;
        }
    }
    struct wndl_dw_attr *attr = wndl_vec_push(attrs);
    if (attr == NULL)
        return false;
    *attr = (struct wndl_dw_attr){
        WNDL_DW_SKIP, WNDL_DW_NO_SLOT, WNDL_DW_OTHER, size};
    abbrev->attr_count++;
    return true;
}

static bool add_attr(struct reading *r, struct wndl_dw_abbrev *abbrev,
    struct wndl_dw_attr added, int64_t constant)
{
    struct wndl_dw_attr *attr = wndl_vec_push(&r->into->attrs);
    if (attr == NULL)
        return false;
    *attr = added;
    abbrev->attr_count++;
    abbrev->has_code |=
        added.slot == WNDL_DW_LOW_PC || added.slot == WNDL_DW_RANGES;
    if (added.form != WNDL_DW_IMPLICIT_CONST)
        return true;
    attr->arg = (uint32_t)r->into->constants.len;
    int64_t *slot_of_constant = wndl_vec_push(&r->into->constants);
    if (slot_of_constant == NULL)
        return false;
    *slot_of_constant = constant;
    return true;
}

/* Updates fixed_size and sibling_at of `abbrev` for one more attribute. */
static void note_size(
    struct wndl_dw_abbrev *abbrev, bool is_sibling, unsigned form, int64_t size)
{
    if (is_sibling) {
        abbrev->sibling_form = (uint16_t)form;
        abbrev->sibling_at = abbrev->fixed_size;
    }
    if (abbrev->fixed_size == WNDL_DW_VARIES)
        return;
    uint64_t sum = (uint64_t)abbrev->fixed_size + (uint64_t)size;
    abbrev->fixed_size = size == WNDL_DW_VARIES || sum >= WNDL_DW_VARIES
                             ? WNDL_DW_VARIES
                             : (uint32_t)sum;
}

/* Notes the place of the last attribute, `at` bytes after the first. */
static void note_place(
    struct wndl_dw_abbrev *abbrev, enum wndl_dw_slot slot, uint32_t at)
{
    if (slot != WNDL_DW_LOW_PC && slot != WNDL_DW_HIGH_PC &&
        slot != WNDL_DW_RANGES && slot != WNDL_DW_SIBLING)
        return;
    unsigned i = abbrev->place_count;
    bool fits = i < WNDL_DW_PLACES && at <= UINT16_MAX &&
                abbrev->attr_count - 1 <= UINT8_MAX;
    abbrev->place_count = fits ? (uint8_t)(i + 1) : UINT8_MAX;
    if (!fits)
        return;
    abbrev->place_at[i] = (uint16_t)at;
    abbrev->place_attr[i] = (uint8_t)(abbrev->attr_count - 1);
}

/* NOT_FOUND at the pair of zeros that ends the attributes. */
static enum wndl_status read_attr(
    struct reading *r, struct wndl_dw_abbrev *abbrev)
{
    uint64_t at = wndl_cursor_offset(&r->c);
    uint64_t attribute = wndl_cursor_uleb(&r->c);
    uint64_t form = wndl_cursor_uleb(&r->c);
    int64_t constant =
        form == WNDL_DW_IMPLICIT_CONST ? wndl_cursor_sleb(&r->c) : 0;
    if (r->c.failed)
        return damaged(r, at, "abbreviation runs past the section");
    if (attribute == 0 && form == 0)
        return WNDL_NOT_FOUND;
    int64_t size = form < WNDL_DW_SKIP
                       ? wndl_dw_form_size((unsigned)form, r->encoding)
                       : -1;
    if (size < 0)
        return damaged(r, at, "unknown attribute form");
    enum wndl_dw_slot slot = wanted_slot(abbrev, attribute);
    uint32_t before = abbrev->fixed_size;
    note_size(abbrev, slot == WNDL_DW_SIBLING, (unsigned)form, size);
    struct wndl_dw_attr attr = {(uint16_t)form, (uint8_t)slot,
        wndl_dw_form_kind((unsigned)form), (uint32_t)size};
    bool kept = slot == WNDL_DW_NO_SLOT && size != WNDL_DW_VARIES
                    ? add_skip(r, abbrev, (uint32_t)size)
                    : add_attr(r, abbrev, attr, constant);
    note_place(abbrev, slot, before);
    return kept ? WNDL_OK : WNDL_NOMEM;
}

/* Tag, children and attributes of a declaration whose code was read. */
static enum wndl_status read_declaration(
    struct reading *r, struct wndl_dw_abbrev *abbrev)
{
    uint64_t at = wndl_cursor_offset(&r->c);
    uint64_t tag = wndl_cursor_uleb(&r->c);
    uint8_t children = wndl_cursor_u8(&r->c);
    if (r->c.failed)
        return damaged(r, at, "abbreviation runs past the section");
    if (r->into->attrs.len > UINT32_MAX / 2)
        return damaged(r, at, "too many abbreviations");
    *abbrev = (struct wndl_dw_abbrev){
        .first_attr = (uint32_t)r->into->attrs.len,
        .sibling_at = WNDL_DW_VARIES,
        .kind = (uint8_t)kind_of(tag),
        .children = children != 0,
    };
    enum wndl_status status;
    do
        status = read_attr(r, abbrev);
    while (status == WNDL_OK);
    if (abbrev->kind == WNDL_DW_DIE_FUNCTION && !abbrev->has_code)
        abbrev->kind = WNDL_DW_DIE_DECLARATION;
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

/* Changes from the dense form, where by_code is empty, to the sparse one. */
static enum wndl_status make_sparse(struct wndl_dw_abbrevs *table)
{
    for (size_t i = 0; i + 1 < table->list.len; i++) {
        uint64_t *index = wndl_map_put(&table->by_code, i + 1);
        if (index == NULL)
            return WNDL_NOMEM;
        *index = i;
    }
    table->sparse = true;
    return WNDL_OK;
}

/* Gives `code` to the last abbreviation of the list. */
static enum wndl_status set_code(struct reading *r, uint64_t code, uint64_t at)
{
    struct wndl_dw_abbrevs *table = r->into;
    if (!table->sparse && code == table->list.len)
        return WNDL_OK;
    enum wndl_status status = table->sparse ? WNDL_OK : make_sparse(table);
    if (status != WNDL_OK)
        return status;
    size_t before = table->by_code.count;
    uint64_t *index = wndl_map_put(&table->by_code, code);
    if (index == NULL)
        return WNDL_NOMEM;
    if (table->by_code.count == before)
        return damaged(r, at, "abbreviation code is used twice");
    *index = table->list.len - 1;
    return WNDL_OK;
}

/* NOT_FOUND at the end of the table. */
static enum wndl_status read_entry(struct reading *r)
{
    uint64_t at = wndl_cursor_offset(&r->c);
    uint64_t code = wndl_cursor_uleb(&r->c);
    if (r->c.failed)
        return damaged(r, at, "abbreviation table has no end");
    if (code == 0)
        return WNDL_NOT_FOUND;
    struct wndl_dw_abbrev *abbrev = wndl_vec_push(&r->into->list);
    if (abbrev == NULL)
        return WNDL_NOMEM;
    enum wndl_status status = read_declaration(r, abbrev);
    return status == WNDL_OK ? set_code(r, code, at) : status;
}

/* Takes the bytes from `start` to the cursor off the budget. */
static enum wndl_status spend(struct reading *r, uint64_t start)
{
    uint64_t bytes = wndl_cursor_offset(&r->c) - start;
    if (bytes > r->d->budget.abbrev_bytes)
        return damaged(r, start, "abbreviations are referred to too often");
    r->d->budget.abbrev_bytes -= bytes;
    return WNDL_OK;
}

void wndl_dw_abbrevs_init(
    struct wndl_dw_abbrevs *table, struct wndl_arena *arena)
{
    wndl_vec_init(&table->list, arena, sizeof(struct wndl_dw_abbrev));
    wndl_vec_init(&table->attrs, arena, sizeof(struct wndl_dw_attr));
    wndl_vec_init(&table->constants, arena, sizeof(int64_t));
    wndl_map_init(&table->by_code, arena);
    table->sparse = false;
}

/* A copy of the table in d->new_abbrevs, or NULL. */
static struct wndl_dw_abbrevs *keep_table(struct wndl_dwarf *d)
{
    struct wndl_dw_abbrevs *from = &d->new_abbrevs;
    struct wndl_dw_abbrevs *table = wndl_arena_alloc(d->arena, sizeof *table);
    if (table == NULL || !wndl_dw_copy_vec(&from->list, &table->list) ||
        !wndl_dw_copy_vec(&from->attrs, &table->attrs) ||
        !wndl_dw_copy_vec(&from->constants, &table->constants))
        return NULL;
    table->by_code = from->by_code;
    table->sparse = from->sparse;
    return table;
}

/* Starts to read into d->new_abbrevs, which is emptied. */
static enum wndl_status start_reading(
    struct wndl_dwarf *d, const struct wndl_dw_unit *unit, struct reading *r)
{
    struct wndl_dw_abbrevs *into = &d->new_abbrevs;
    into->list.len = into->attrs.len = into->constants.len = 0;
    wndl_map_init(&into->by_code, d->arena);
    into->sparse = false;
    *r = (struct reading){
        .d = d,
        .c =
            wndl_cursor_at(d->in.abbrev, unit->abbrev_offset, d->in.big_endian),
        .encoding = unit->encoding,
        .into = into,
    };
    if (r->c.failed)
        return wndl_dw_damage(d, ".debug_info", unit->offset,
            "abbreviations outside .debug_abbrev");
    return WNDL_OK;
}

/*
 * The key of a table: units share it if their offset and their sizes of forms
 * are equal.
 */
static uint64_t table_key(const struct wndl_dw_unit *unit)
{
    unsigned sizes = (unsigned)(unit->encoding.offset_size == 8) << 2 |
                     (unsigned)(unit->encoding.address_size == 8) << 1 |
                     (unsigned)(unit->encoding.version <= 2);
    return unit->abbrev_offset << 3 | sizes;
}

enum wndl_status wndl_dw_load_abbrevs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->abbrevs != NULL)
        return WNDL_OK;
    uint64_t *known = wndl_map_put(&d->abbrevs, table_key(unit));
    if (known == NULL)
        return WNDL_NOMEM;
    if (*known != 0) {
        unit->abbrevs = (struct wndl_dw_abbrevs *)(uintptr_t)*known;
        return WNDL_OK;
    }
    struct reading r;
    enum wndl_status status = start_reading(d, unit, &r);
    while (status == WNDL_OK)
        status = read_entry(&r);
    if (status == WNDL_NOT_FOUND)
        status = spend(&r, unit->abbrev_offset);
    if (status != WNDL_OK)
        return status;
    unit->abbrevs = keep_table(d);
    *known = (uintptr_t)unit->abbrevs;
    return unit->abbrevs == NULL ? WNDL_NOMEM : WNDL_OK;
}

/*
 * Skips the attributes of a declaration that is not wanted. Their forms need
 * not be known.
 */
static void skip_declaration(struct wndl_cursor *c)
{
    (void)wndl_cursor_uleb(c);
    (void)wndl_cursor_u8(c);
    for (;;) {
        uint64_t attribute = wndl_cursor_uleb(c);
        uint64_t form = wndl_cursor_uleb(c);
        if (form == WNDL_DW_IMPLICIT_CONST)
            (void)wndl_cursor_sleb(c);
        if (c->failed || (attribute == 0 && form == 0))
            return;
    }
}

/* Reads only the declaration of `code`. NOT_FOUND when there is none. */
static enum wndl_status read_one(struct reading *r, uint64_t code)
{
    for (;;) {
        uint64_t here = wndl_cursor_uleb(&r->c);
        if (r->c.failed || here == 0)
            return WNDL_NOT_FOUND;
        if (here == code)
            break;
        skip_declaration(&r->c);
    }
    struct wndl_dw_abbrev *abbrev = wndl_vec_push(&r->into->list);
    return abbrev == NULL ? WNDL_NOMEM : read_declaration(r, abbrev);
}

/*
 * Whether to read the whole table: it is loaded already, or used for the second
 * time.
 */
static bool wants_whole_table(
    struct wndl_dwarf *d, const struct wndl_dw_unit *unit)
{
    uint64_t key = table_key(unit);
    bool again = unit->abbrevs != NULL || d->last_root_abbrevs == key ||
                 d->budget.root_bytes == 0 ||
                 wndl_map_get(&d->abbrevs, key) != NULL;
    d->last_root_abbrevs = key;
    return again;
}

static const struct wndl_dw_abbrev *set_table(
    struct wndl_dw_die *die, const struct wndl_dw_abbrevs *table, uint64_t code)
{
    die->table = table;
    die->abbrev = wndl_dw_abbrev_of(table, code);
    return die->abbrev;
}

enum wndl_status wndl_dw_root_abbrev(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t code, struct wndl_dw_die *die)
{
    enum wndl_status status;
    if (wants_whole_table(d, unit)) {
        status = wndl_dw_load_abbrevs(d, unit);
        if (status != WNDL_OK)
            return status;
        return set_table(die, unit->abbrevs, code) == NULL ? WNDL_NOT_FOUND
                                                           : WNDL_OK;
    }
    struct reading r;
    status = start_reading(d, unit, &r);
    if (status == WNDL_OK)
        status = read_one(&r, code);
    if (status != WNDL_OK)
        return status;
    (void)set_table(die, r.into, 1);
    uint64_t bytes = wndl_cursor_offset(&r.c) - unit->abbrev_offset;
    d->budget.root_bytes -=
        bytes < d->budget.root_bytes ? bytes : d->budget.root_bytes;
    return WNDL_OK;
}
