/* SPDX-License-Identifier: MIT */
/*
 * Functions have no sizes here. Each reaches to the next start, by symbols,
 * exports or the list of starts, which stripping leaves.
 */
#include "base/map.h"
#include "base/search.h"
#include "obj/macho/impl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { NLIST = 12, NLIST_64 = 16 };

/* Names from there on do not end. */
static uint64_t names_end(struct wndl_bytes strings)
{
    const uint8_t *last =
        strings.size == 0 ? NULL : memrchr(strings.data, '\0', strings.size);
    return last == NULL ? 0 : (uint64_t)(last - strings.data) + 1;
}

enum wndl_status wndl_nlists_open(const struct wndl_object *object,
    struct wndl_nlists *table, struct wndl_error *err)
{
    const struct wndl_macho *m = object->macho;
    *table = (struct wndl_nlists){
        .count = m->symbol_count,
        .address_size = object->address_size,
        .big_endian = object->big_endian,
    };
    if (table->count == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no symbol table");
    uint64_t each = object->address_size == 8 ? NLIST_64 : NLIST;
    table->entries =
        wndl_bytes_slice(m->bytes, m->symbol_offset, table->count * each);
    table->strings =
        wndl_bytes_slice(m->bytes, m->strings.offset, m->strings.size);
    if (table->entries.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, "symbol table",
            m->offset + m->symbol_offset,
            "the symbols reach past the end of the file");
    if (table->strings.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, "symbol table",
            m->offset + m->strings.offset,
            "the symbols' names reach past the end of the file");
    table->names_end = names_end(table->strings);
    return WNDL_OK;
}

struct wndl_nlist wndl_nlists_at(
    const struct wndl_nlists *table, uint64_t index)
{
    uint64_t each = table->address_size == 8 ? NLIST_64 : NLIST;
    struct wndl_cursor c =
        wndl_cursor_at(table->entries, index * each, table->big_endian);
    struct wndl_nlist symbol = {0};
    uint32_t name = wndl_cursor_u32(&c);
    symbol.type = wndl_cursor_u8(&c);
    symbol.section = wndl_cursor_u8(&c);
    symbol.desc = wndl_cursor_u16(&c);
    symbol.value =
        table->address_size == 8 ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
    symbol.name = name < table->names_end
                      ? wndl_object_ended_name(table->strings.data + name)
                      : wndl_object_ended_name((const uint8_t *)"");
    return symbol;
}

const struct wndl_object_section *wndl_macho_code_of(
    const struct wndl_object *object, const struct wndl_nlist *symbol)
{
    if ((symbol->type & WNDL_NLIST_STAB) != 0 ||
        (symbol->type & WNDL_NLIST_TYPE) != WNDL_NLIST_SECT ||
        symbol->section == 0 || symbol->section > object->section_count)
        return NULL;
    const struct wndl_object_section *section =
        &object->sections[symbol->section - 1];
    return (section->view.flags & SHF_EXECINSTR) == 0 ? NULL : section;
}

struct listing {
    struct wndl_object *object;
    struct wndl_vec *functions; /* struct wndl_function */
    struct wndl_arena scratch;
    struct wndl_vec bounds; /* uint64_t */
    struct wndl_map known;  /* addresses of symbols */
};

static bool add_bound(struct listing *l, uint64_t address)
{
    uint64_t *bound = wndl_vec_push(&l->bounds);
    if (bound != NULL)
        *bound = address;
    return bound != NULL;
}

static uint64_t end_of(const struct wndl_object_section *section)
{
    uint64_t start = section->view.addr.v;
    return section->view.size > UINT64_MAX - start ? UINT64_MAX
                                                   : start + section->view.size;
}

/*
 * The compiler's _x is x in the source. A name without an underscore is an
 * assembler's label.
 */
static bool push(struct listing *l, const struct wndl_nlist *symbol,
    const struct wndl_object_section *section)
{
    struct wndl_function *function = wndl_vec_push(l->functions);
    uint64_t *known = wndl_map_put(&l->known, symbol->value);
    if (function == NULL || known == NULL || !add_bound(l, symbol->value))
        return false;
    bool plain = symbol->name.data[0] != '_';
    bool is_label =
        plain && l->object->macho->kind == WNDL_MACHO_OBJECT &&
        (symbol->name.data[0] == 'l' || symbol->name.data[0] == 'L');
    *known = 1;
    *function = (struct wndl_function){
        .start = symbol->value,
        .end = end_of(section),
        .name = symbol->name.data + (plain ? 0 : 1),
        .order = (uint32_t)l->functions->len,
        .kind = is_label ? WNDL_SYMBOL_OTHER : WNDL_SYMBOL_FUNC,
        .binding =
            (symbol->type & WNDL_NLIST_EXT) != 0 ? STB_GLOBAL : STB_LOCAL,
        .has_size = true,
        .is_open = true,
    };
    return true;
}

static enum wndl_status add_symbols(struct listing *l, struct wndl_error *err)
{
    struct wndl_nlists table;
    enum wndl_status status = wndl_nlists_open(l->object, &table, err);
    for (uint64_t i = 0; status == WNDL_OK && i < table.count; i++) {
        struct wndl_nlist symbol = wndl_nlists_at(&table, i);
        const struct wndl_object_section *section =
            wndl_macho_code_of(l->object, &symbol);
        if (section == NULL || symbol.name.size == 0 ||
            symbol.value < section->view.addr.v ||
            symbol.value >= end_of(section))
            continue;
        if (!push(l, &symbol, section))
            return wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    }
    return status;
}

/* Only among as many sections as symbols can number. */
static const struct wndl_object_section *code_at(
    const struct wndl_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->section_count && i < UINT8_MAX; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if ((section->view.flags & SHF_EXECINSTR) != 0 &&
            address >= section->view.addr.v && address < end_of(section))
            return section;
    }
    return NULL;
}

static enum wndl_status add_export(
    void *context, const struct wndl_macho_export *exported)
{
    struct listing *l = context;
    struct wndl_nlist symbol = {
        .name = wndl_object_ended_name((const uint8_t *)exported->name),
        .value = l->object->macho->header + exported->offset,
        .type = WNDL_NLIST_SECT | WNDL_NLIST_EXT,
    };
    const struct wndl_object_section *section =
        code_at(l->object, symbol.value);
    if (section == NULL || symbol.name.size == 0 ||
        wndl_map_get(&l->known, symbol.value) != NULL)
        return WNDL_OK;
    return push(l, &symbol, section) ? WNDL_OK : WNDL_NOMEM;
}

/* LC_FUNCTION_STARTS: distances from the header on, up to a 0. */
static enum wndl_status add_starts(struct listing *l, struct wndl_error *err)
{
    const struct wndl_macho *m = l->object->macho;
    struct wndl_bytes bytes =
        wndl_bytes_slice(m->bytes, m->starts.offset, m->starts.size);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    uint64_t address = m->header;
    uint64_t mask = l->object->machine == EM_ARM ? ~UINT64_C(1) : UINT64_MAX;
    if (m->starts.size != 0 && bytes.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, "function starts",
            m->offset + m->starts.offset,
            "they reach past the end of the file");
    for (uint64_t step = 1; wndl_cursor_left(&c) != 0 && step != 0;) {
        step = wndl_cursor_uleb(&c);
        address += step;
        if (step != 0 && !c.failed && !add_bound(l, address & mask))
            return wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    }
    return c.failed ? wndl_fail_at(err, WNDL_MALFORMED, "function starts",
                          m->offset + m->starts.offset,
                          "a number in them does not end")
                    : WNDL_OK;
}

static int compare_addresses(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* The first bound above `address`. */
static uint64_t bound_after(const struct wndl_vec *bounds, uint64_t address)
{
    const uint64_t *list = bounds->data;
    size_t at = wndl_search_up_to(list, sizeof *list, bounds->len, address);
    return at < bounds->len ? list[at] : UINT64_MAX;
}

static void settle_ends(struct listing *l)
{
    struct wndl_function *list = l->functions->data;
    if (l->bounds.len > 1)
        qsort(
            l->bounds.data, l->bounds.len, sizeof(uint64_t), compare_addresses);
    for (size_t i = 0; i < l->functions->len; i++) {
        uint64_t bound = bound_after(&l->bounds, list[i].start);
        if (list[i].end > bound)
            list[i].end = bound;
    }
}

/* Damage is noted, and the sound part is used. */
static enum wndl_status note(struct listing *l, enum wndl_status status,
    const struct wndl_error *damage, struct wndl_error *err)
{
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "no memory for the symbols");
    if (status != WNDL_OK && status != WNDL_NOT_FOUND)
        wndl_object_note_damage(l->object, damage);
    return WNDL_OK;
}

static enum wndl_status list_all(struct listing *l, struct wndl_error *err)
{
    struct wndl_error damage = {0};
    enum wndl_status status = note(l, add_symbols(l, &damage), &damage, err);
    if (status == WNDL_OK) {
        damage = (struct wndl_error){0};
        status = wndl_macho_visit_exports(
            l->object, &l->object->arena, add_export, l, &damage);
        status = note(l, status, &damage, err);
    }
    if (status == WNDL_OK) {
        damage = (struct wndl_error){0};
        status = note(l, add_starts(l, &damage), &damage, err);
    }
    if (status != WNDL_OK)
        return status;
    settle_ends(l);
    return l->functions->len == 0
               ? wndl_fail(err, WNDL_NOT_FOUND, "no symbols of functions")
               : WNDL_OK;
}

enum wndl_status wndl_macho_read_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    struct listing l = {.object = object, .functions = functions};
    wndl_arena_init(&l.scratch, object->mem);
    wndl_vec_init(&l.bounds, &l.scratch, sizeof(uint64_t));
    wndl_map_init(&l.known, &l.scratch);
    enum wndl_status status = list_all(&l, err);
    wndl_arena_free(&l.scratch);
    return status;
}

bool wndl_macho_has_symtab(const struct wndl_object *object)
{
    return object->macho->symbol_count != 0;
}
