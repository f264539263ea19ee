/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/type_die.h"

#include "base/status.h"

#include <string.h>

/* Limits: steps through aliases, and dimensions of an array. */
enum { CHAIN_LIMIT = 64, DIMENSION_LIMIT = 16 };

/* A type with the parts of its DIE that are needed later. */
struct wndl_type_die {
    struct wndl_type type;
    struct wndl_dw_type_unit *unit;
    uint64_t offset;
    struct wndl_dw_value target; /* if has_target */
    struct wndl_dw_value signature;
    bool has_target, has_signature, has_children, has_members;
    const struct wndl_type_member *members;
    size_t member_count;
};

static bool init(struct wndl_types *t)
{
    struct wndl_arena *arena = &t->arena;
    wndl_map_init(&t->units, arena);
    wndl_map_init(&t->tables, arena);
    wndl_map_init(&t->types, arena);
    wndl_map_init(&t->signatures, arena);
    wndl_map_init(&t->by_name, arena);
    wndl_map_init(&t->name_of, arena);
    wndl_vec_init(&t->type_units, arena, sizeof(struct wndl_dw_type_unit *));
    wndl_vec_init(&t->names, arena, sizeof(struct wndl_dw_type_name));
    return wndl_intern_init(&t->strings, arena);
}

enum wndl_status wndl_types_open(
    struct wndl_dwarf *dwarf, struct wndl_mem *mem, struct wndl_types **out)
{
    struct wndl_types *t = wndl_mem_zalloc(mem, sizeof *t);
    if (t == NULL)
        return WNDL_NOMEM;
    t->d = dwarf;
    t->mem = mem;
    wndl_arena_init(&t->arena, mem);
    if (!init(t)) {
        wndl_types_close(t);
        return WNDL_NOMEM;
    }
    *out = t;
    return WNDL_OK;
}

void wndl_types_close(struct wndl_types *types)
{
    if (types == NULL)
        return;
    wndl_arena_free(&types->arena);
    wndl_mem_free(types->mem, types);
}

uint32_t wndl_types_damage(
    const struct wndl_types *types, struct wndl_error *first)
{
    *first = types->first_damage;
    return types->damaged;
}

/* ---- types */

static enum wndl_type_kind kind_of(uint32_t tag)
{
    switch (tag) {
    case WNDL_DW_TAG_BASE:
        return WNDL_TYPE_BASE;
    case WNDL_DW_TAG_ENUM:
        return WNDL_TYPE_ENUM;
    case WNDL_DW_TAG_POINTER:
    case WNDL_DW_TAG_REFERENCE:
    case WNDL_DW_TAG_RVALUE_REFERENCE:
        return WNDL_TYPE_POINTER;
    case WNDL_DW_TAG_STRUCT:
    case WNDL_DW_TAG_CLASS:
    case WNDL_DW_TAG_INTERFACE:
        return WNDL_TYPE_STRUCT;
    case WNDL_DW_TAG_UNION:
        return WNDL_TYPE_UNION;
    case WNDL_DW_TAG_ARRAY:
        return WNDL_TYPE_ARRAY;
    case WNDL_DW_TAG_TYPEDEF:
    case WNDL_DW_TAG_CONST:
    case WNDL_DW_TAG_VOLATILE:
    case WNDL_DW_TAG_RESTRICT:
    case WNDL_DW_TAG_ATOMIC:
    case WNDL_DW_TAG_IMMUTABLE:
        return WNDL_TYPE_ALIAS;
    default:
        return WNDL_TYPE_OTHER;
    }
}

/* DW_ATE_signed, DW_ATE_signed_char (DWARF 5, 7.8). */
static bool is_signed(const struct wndl_dw_type_at *die)
{
    const uint64_t encoding = wndl_dw_type_number(die, WNDL_DW_T_ENCODING, 0);
    return encoding == 0x05 || encoding == 0x06;
}

/* The elements of one dimension; 0: not known. */
static uint64_t count_of(const struct wndl_dw_type_at *subrange)
{
    if (wndl_dw_type_has(subrange, WNDL_DW_T_COUNT))
        return wndl_dw_type_number(subrange, WNDL_DW_T_COUNT, 0);
    const uint64_t low =
        wndl_dw_type_number(subrange, WNDL_DW_T_LOWER_BOUND, 0);
    const uint64_t high =
        wndl_dw_type_number(subrange, WNDL_DW_T_UPPER_BOUND, UINT64_MAX);
    return high == UINT64_MAX || high < low ? 0 : high - low + 1;
}

static enum wndl_status read_counts(
    struct wndl_types *t, struct wndl_type_die *node, struct wndl_cursor *c)
{
    uint64_t counts[DIMENSION_LIMIT];
    uint32_t n = 0;
    while (node->has_children && wndl_cursor_left(c) > 0) {
        struct wndl_dw_type_at die;
        enum wndl_status status = wndl_dw_read_type_die(t, node->unit, c, &die);
        if (status == WNDL_OK && die.tag == 0)
            break;
        if (status == WNDL_OK)
            status = wndl_dw_skip_children(t, &die, c);
        if (status != WNDL_OK)
            return status;
        if (die.tag == WNDL_DW_TAG_SUBRANGE && n == DIMENSION_LIMIT)
            return wndl_dw_type_damage(
                node->unit, die.offset, "an array of too many dimensions");
        if (die.tag == WNDL_DW_TAG_SUBRANGE)
            counts[n++] = count_of(&die);
    }
    if (n == 0)
        counts[n++] = 0;
    uint64_t *kept = wndl_arena_alloc(&t->arena, n * sizeof *kept);
    if (kept == NULL)
        return WNDL_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        kept[i] = counts[i];
    node->type.counts = kept;
    node->type.dimensions = n;
    return WNDL_OK;
}

static void take_attributes(
    struct wndl_type_die *node, const struct wndl_dw_type_at *die)
{
    struct wndl_type *type = &node->type;
    type->kind = kind_of(die->tag);
    type->size = wndl_dw_type_number(die, WNDL_DW_T_BYTE_SIZE, 0);
    if (type->kind == WNDL_TYPE_POINTER && type->size == 0)
        type->size = node->unit->unit->encoding.address_size;
    type->is_signed = type->kind == WNDL_TYPE_BASE && is_signed(die);
    type->is_declaration =
        wndl_dw_type_number(die, WNDL_DW_T_DECLARATION, 0) != 0;
    node->has_children = die->children;
    node->has_target = wndl_dw_type_has(die, WNDL_DW_T_TYPE);
    node->has_signature = wndl_dw_type_has(die, WNDL_DW_T_SIGNATURE);
    if (node->has_target)
        node->target = die->slots[WNDL_DW_T_TYPE];
    if (node->has_signature)
        node->signature = die->slots[WNDL_DW_T_SIGNATURE];
}

static enum wndl_status read_node(
    struct wndl_types *t, struct wndl_type_die *node)
{
    struct wndl_dw_type_at die;
    struct wndl_cursor c = wndl_dw_type_cursor(node->unit, node->offset);
    enum wndl_status status = wndl_dw_read_type_die(t, node->unit, &c, &die);
    if (status == WNDL_OK && die.tag == 0)
        status = wndl_dw_type_damage(
            node->unit, node->offset, "no DIE where a type is referred to");
    if (status == WNDL_OK)
        status = wndl_dw_type_name(&die, &node->type.name);
    if (status != WNDL_OK)
        return status;
    take_attributes(node, &die);
    return node->type.kind == WNDL_TYPE_ARRAY ? read_counts(t, node, &c)
                                              : WNDL_OK;
}

enum wndl_status wndl_dw_type_of(struct wndl_types *t,
    struct wndl_dw_type_unit *unit, uint64_t offset,
    const struct wndl_type **type)
{
    uint64_t *known = wndl_map_put(&t->types, wndl_dw_type_key(unit, offset));
    if (known == NULL)
        return WNDL_NOMEM;
    if (*known == 0) {
        struct wndl_type_die *node = wndl_arena_alloc(&t->arena, sizeof *node);
        if (node == NULL)
            return WNDL_NOMEM;
        *node = (struct wndl_type_die){.unit = unit, .offset = offset};
        node->type.from = node;
        enum wndl_status status =
            wndl_dw_type_lose(t, unit->d, read_node(t, node));
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK)
            node->unit = NULL;
        *known = (uint64_t)(uintptr_t)node;
    }
    const struct wndl_type_die *node =
        (const struct wndl_type_die *)(uintptr_t)*known;
    *type = &node->type;
    return node->unit == NULL ? WNDL_NOT_FOUND : WNDL_OK;
}

static enum wndl_status type_at(struct wndl_types *t,
    const struct wndl_dw_type_unit *from, struct wndl_dw_value value,
    const struct wndl_type **type)
{
    struct wndl_dw_type_unit *unit;
    uint64_t offset;
    enum wndl_status status = wndl_dw_type_lose(
        t, from->d, wndl_dw_type_refer(t, from, value, &unit, &offset));
    return status == WNDL_OK ? wndl_dw_type_of(t, unit, offset, type) : status;
}

enum wndl_status wndl_dw_type_in(struct wndl_types *t,
    const struct wndl_dw_type_at *die, const struct wndl_type **type)
{
    return wndl_dw_type_has(die, WNDL_DW_T_TYPE)
               ? type_at(t, die->unit, die->slots[WNDL_DW_T_TYPE], type)
               : WNDL_NOT_FOUND;
}

/* ---- what types are made of */

enum wndl_status wndl_types_target(struct wndl_types *types,
    const struct wndl_type *type, const struct wndl_type **target)
{
    const struct wndl_type_die *node = type->from;
    if (!node->has_target)
        return WNDL_NOT_FOUND;
    return type_at(types, node->unit, node->target, target);
}

/* The type that a declaration stands for; NOT_FOUND: there is none. */
static enum wndl_status complete(struct wndl_types *t,
    const struct wndl_type *type, const struct wndl_type **whole)
{
    const struct wndl_type_die *node = type->from;
    struct wndl_dw_type_name found;
    struct wndl_bytes name;
    if (node->has_signature)
        return type_at(t, node->unit, node->signature, whole);
    enum wndl_status status =
        wndl_dw_qualified_name(t, node->unit, node->offset, &name);
    if (status == WNDL_OK)
        status = wndl_dw_find_named(t, name, NULL, &found);
    if (status != WNDL_OK)
        return status;
    return wndl_dw_type_of(t, found.unit, found.offset, whole);
}

enum wndl_status wndl_types_strip(struct wndl_types *types,
    const struct wndl_type *type, const struct wndl_type **stripped)
{
    for (int i = 0; i < CHAIN_LIMIT && type->kind == WNDL_TYPE_ALIAS; i++) {
        enum wndl_status status = wndl_types_target(types, type, &type);
        if (status != WNDL_OK)
            return status;
    }
    if (type->kind == WNDL_TYPE_ALIAS) {
        enum wndl_status status = wndl_dw_type_damage(type->from->unit,
            type->from->offset, "aliases of a type go in a circle");
        return wndl_dw_type_lose(types, type->from->unit->d, status);
    }
    *stripped = type;
    if (!type->is_declaration)
        return WNDL_OK;
    const struct wndl_type *whole;
    enum wndl_status status = complete(types, type, &whole);
    if (status == WNDL_OK && whole->kind != WNDL_TYPE_ALIAS)
        *stripped = whole;
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

enum wndl_status wndl_types_size(
    struct wndl_types *types, const struct wndl_type *type, uint64_t *size)
{
    uint64_t elements = 1;
    enum wndl_status status = WNDL_OK;
    *size = 0;
    for (int i = 0; i < CHAIN_LIMIT && status == WNDL_OK; i++) {
        status = wndl_types_strip(types, type, &type);
        if (status != WNDL_OK)
            break;
        if (type->size != 0 ||
            (type->kind != WNDL_TYPE_ARRAY && type->kind != WNDL_TYPE_ENUM)) {
            *size = times(elements, type->size);
            return WNDL_OK;
        }
        for (uint32_t j = 0; j < type->dimensions; j++)
            elements = times(elements, type->counts[j]);
        status = wndl_types_target(types, type, &type);
    }
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

/* ---- members */

/* A static member in DWARF 2 to 4 is a declaration. */
static bool is_member(const struct wndl_dw_type_at *die)
{
    if (die->tag == WNDL_DW_TAG_INHERITANCE)
        return wndl_dw_type_has(die, WNDL_DW_T_LOCATION) &&
               die->slots[WNDL_DW_T_LOCATION].kind == WNDL_DW_NUMBER;
    return die->tag == WNDL_DW_TAG_MEMBER &&
           wndl_dw_type_number(die, WNDL_DW_T_DECLARATION, 0) == 0;
}

/*
 * Where a bit field begins. DW_AT_bit_offset counts from the highest bit of the
 * storage unit (DWARF 3, 5.5.5), DW_AT_data_bit_offset from the struct's start.
 */
static enum wndl_status place_bits(struct wndl_types *t,
    const struct wndl_dw_type_at *die, struct wndl_type_member *m)
{
    m->bits = wndl_dw_type_number(die, WNDL_DW_T_BIT_SIZE, 0);
    if (wndl_dw_type_has(die, WNDL_DW_T_DATA_BIT_OFFSET)) {
        m->bit_at += wndl_dw_type_number(die, WNDL_DW_T_DATA_BIT_OFFSET, 0);
        return WNDL_OK;
    }
    if (!wndl_dw_type_has(die, WNDL_DW_T_BIT_OFFSET))
        return WNDL_OK;
    const uint64_t from_top = wndl_dw_type_number(die, WNDL_DW_T_BIT_OFFSET, 0);
    uint64_t storage = wndl_dw_type_number(die, WNDL_DW_T_BYTE_SIZE, 0);
    enum wndl_status status = WNDL_OK;
    if (storage == 0)
        status = wndl_types_size(t, m->type, &storage);
    if (die->unit->d->in.big_endian)
        m->bit_at += from_top;
    else
        m->bit_at += 8 * storage - from_top - m->bits;
    return status;
}

/* NOT_FOUND: the member's type or place is damaged. */
static enum wndl_status read_member(struct wndl_types *t,
    const struct wndl_dw_type_at *die, struct wndl_type_member *m)
{
    const uint64_t at = wndl_dw_type_number(die, WNDL_DW_T_LOCATION, 0);
    *m = (struct wndl_type_member){
        .bit_at = 8 * at, .is_base = die->tag == WNDL_DW_TAG_INHERITANCE};
    if (at > UINT64_MAX / 16)
        return WNDL_NOT_FOUND;
    enum wndl_status status = wndl_dw_type_in(t, die, &m->type);
    if (status == WNDL_OK && m->is_base)
        status = wndl_types_strip(t, m->type, &m->type);
    if (status == WNDL_OK)
        status = wndl_dw_type_lose(
            t, die->unit->d, wndl_dw_type_name(die, &m->name));
    return status == WNDL_OK ? place_bits(t, die, m) : status;
}

static enum wndl_status read_members(
    struct wndl_types *t, struct wndl_type_die *node, struct wndl_vec *members)
{
    struct wndl_dw_type_at die;
    struct wndl_cursor c = wndl_dw_type_cursor(node->unit, node->offset);
    enum wndl_status status = wndl_dw_read_type_die(t, node->unit, &c, &die);
    while (status == WNDL_OK && wndl_cursor_left(&c) > 0) {
        struct wndl_type_member m;
        status = wndl_dw_read_type_die(t, node->unit, &c, &die);
        if (status != WNDL_OK || die.tag == 0)
            break;
        status = wndl_dw_skip_children(t, &die, &c);
        if (status != WNDL_OK || !is_member(&die))
            continue;
        const enum wndl_status found = read_member(t, &die, &m);
        struct wndl_type_member *slot =
            found == WNDL_OK ? wndl_vec_push(members) : NULL;
        if (found == WNDL_NOMEM || (found == WNDL_OK && slot == NULL))
            return WNDL_NOMEM;
        if (slot != NULL)
            *slot = m;
    }
    return status;
}

enum wndl_status wndl_types_members(struct wndl_types *types,
    const struct wndl_type *type, const struct wndl_type_member **members,
    size_t *count)
{
    struct wndl_type_die *node = type->from;
    const bool has_any =
        node->has_children &&
        (type->kind == WNDL_TYPE_STRUCT || type->kind == WNDL_TYPE_UNION);
    if (!node->has_members && has_any) {
        struct wndl_vec found;
        wndl_vec_init(&found, &types->arena, sizeof(struct wndl_type_member));
        enum wndl_status status = wndl_dw_type_lose(
            types, node->unit->d, read_members(types, node, &found));
        if (status == WNDL_NOMEM)
            return status;
        node->members = found.data;
        node->member_count = found.len;
    }
    node->has_members = true;
    *members = node->members;
    *count = node->member_count;
    return WNDL_OK;
}

/* ---- by name */

enum wndl_status wndl_types_find(struct wndl_types *types, const char *name,
    wndl_svma near, const struct wndl_type **type)
{
    static const char *const tags[] = {"struct ", "class ", "union ", "enum "};
    struct wndl_dw_type_unit *first = NULL;
    struct wndl_dw_type_name found;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strncmp(name, tags[i], strlen(tags[i])) == 0) {
            name += strlen(tags[i]);
            break;
        }
    if (near.v != 0 &&
        wndl_dw_type_unit_at(types, near.v, &first) == WNDL_NOMEM)
        return WNDL_NOMEM;
    const struct wndl_bytes text = {(const uint8_t *)name, strlen(name)};
    enum wndl_status status = wndl_dw_find_named(types, text, first, &found);
    return status == WNDL_OK
               ? wndl_dw_type_of(types, found.unit, found.offset, type)
               : status;
}
