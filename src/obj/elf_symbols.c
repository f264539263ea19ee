/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols: which entries of an ELF symbol table are functions (gABI 4.1,
 * "Symbol Table").
 *
 * Typed functions are. So are untyped labels in executable sections: hand-
 * written assembly often has nothing better, and functions.c drops those that
 * lie inside a typed function.
 */
#include "obj/object_impl.h"

#include <elf.h>

struct symbol_table {
    const struct wndl_object *object;
    const char *name; /* of the section, for messages */
    struct wndl_bytes entries;
    struct wndl_bytes strings;
    struct wndl_bytes indexes; /* SHT_SYMTAB_SHNDX, or empty */
    uint64_t stride;
    uint64_t count;
};

struct raw_symbol {
    uint64_t value, size;
    uint32_t name;
    uint32_t section;
    uint8_t info;
};

static struct raw_symbol read_symbol(
    const struct symbol_table *table, uint64_t index)
{
    struct wndl_cursor c = wndl_cursor_at(
        table->entries, index * table->stride, table->object->big_endian);
    struct raw_symbol raw = {.name = wndl_cursor_u32(&c)};
    bool is_64 = table->object->address_size == 8;
    if (!is_64) {
        raw.value = wndl_cursor_u32(&c);
        raw.size = wndl_cursor_u32(&c);
    }
    raw.info = wndl_cursor_u8(&c);
    wndl_cursor_skip(&c, 1); /* st_other */
    raw.section = wndl_cursor_u16(&c);
    if (is_64) {
        raw.value = wndl_cursor_u64(&c);
        raw.size = wndl_cursor_u64(&c);
    }
    return raw;
}

/* The section a symbol is in, or NULL for the reserved indexes. */
static const struct wndl_object_section *section_of(
    const struct symbol_table *table, const struct raw_symbol *raw,
    uint64_t index)
{
    uint32_t section = raw->section;
    if (section == SHN_XINDEX) {
        struct wndl_cursor c = wndl_cursor_at(
            table->indexes, index * 4, table->object->big_endian);
        section = wndl_cursor_u32(&c);
    } else if (section >= SHN_LORESERVE) {
        return NULL;
    }
    if (section == SHN_UNDEF || section >= table->object->section_count)
        return NULL;
    return &table->object->sections[section];
}

/* ARM ELF, "Mapping symbols": $a, $d, $t, $x mark code and data, not names. */
static bool is_marker(struct wndl_bytes name)
{
    if (name.size == 0)
        return true;
    bool local_label =
        name.size >= 2 && name.data[0] == '.' && name.data[1] == 'L';
    bool mapping = name.size >= 2 && name.data[0] == '$' &&
                   (name.size == 2 || name.data[2] == '.');
    return local_label || mapping;
}

static bool is_code(const struct wndl_object_section *section)
{
    return section != NULL && (section->view.flags & SHF_EXECINSTR) != 0;
}

static enum wndl_status add_symbol(const struct symbol_table *table,
    uint64_t index, struct wndl_vec *candidates, struct wndl_error *err)
{
    struct raw_symbol raw = read_symbol(table, index);
    unsigned type = ELF64_ST_TYPE(raw.info);
    bool typed = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (raw.section == SHN_UNDEF || raw.section == SHN_COMMON ||
        (!typed && type != STT_NOTYPE))
        return WNDL_OK;
    const struct wndl_object_section *section = section_of(table, &raw, index);
    if (!typed && !is_code(section))
        return WNDL_OK;
    struct wndl_bytes name = wndl_elf_name(table->strings, raw.name);
    if (name.data == NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, table->name,
            index * table->stride,
            "a symbol's name reaches past the string table");
    if (typed ? name.size == 0 : is_marker(name))
        return WNDL_OK;
    struct wndl_candidate *candidate = wndl_vec_push(candidates);
    if (candidate == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
    /* Bit 0 of an ARM function's address says Thumb. */
    if (typed && table->object->machine == EM_ARM)
        raw.value &= ~UINT64_C(1);
    candidate->symbol = (struct wndl_symbol){
        .name = name,
        .addr = {raw.value},
        .size = raw.size,
        .kind = typed ? WNDL_SYMBOL_FUNC : WNDL_SYMBOL_OTHER,
        .binding = ELF64_ST_BIND(raw.info),
    };
    candidate->limit =
        section == NULL ? raw.value : section->view.addr.v + section->view.size;
    candidate->order = (uint32_t)index;
    return WNDL_OK;
}

static const struct wndl_object_section *find_type(
    const struct wndl_object *object, uint32_t type)
{
    for (size_t i = 0; i < object->section_count; i++)
        if (object->sections[i].view.type == type)
            return &object->sections[i];
    return NULL;
}

/* The one SHT_SYMTAB_SHNDX that is linked to the symbol table. */
static struct wndl_bytes find_indexes(
    const struct wndl_object *object, const struct wndl_object_section *symbols)
{
    struct wndl_bytes bytes = {0};
    uint64_t own_index = (uint64_t)(symbols - object->sections);
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        if (section->view.type != SHT_SYMTAB_SHNDX ||
            section->link != own_index)
            continue;
        if (wndl_object_stored_bytes(object, section, &bytes, NULL) == WNDL_OK)
            break;
    }
    return bytes;
}

static enum wndl_status open_table(struct symbol_table *table,
    const struct wndl_object_section *section, struct wndl_error *err)
{
    const struct wndl_object *object = table->object;
    table->name = (const char *)section->view.name.data;
    if (section->link >= object->section_count)
        return wndl_fail_at(err, WNDL_MALFORMED, table->name, 0,
            "the symbol table's string table does not exist");
    enum wndl_status status =
        wndl_object_stored_bytes(object, section, &table->entries, err);
    if (status == WNDL_OK)
        status = wndl_object_stored_bytes(
            object, &object->sections[section->link], &table->strings, err);
    if (status != WNDL_OK)
        return status;
    uint64_t least =
        object->address_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    table->stride = section->entry_size == 0 ? least : section->entry_size;
    if (table->stride < least)
        return wndl_fail_at(err, WNDL_MALFORMED, table->name, 0,
            "symbols smaller than their class has them");
    table->count = table->entries.size / table->stride;
    if (table->count > UINT32_MAX)
        return wndl_fail_at(
            err, WNDL_LIMIT, table->name, 0, "more symbols than fit 32 bits");
    table->indexes = find_indexes(object, section);
    return WNDL_OK;
}

/* A debug file keeps the header of .dynsym, but as SHT_NOBITS. */
enum wndl_status wndl_elf_read_functions(const struct wndl_object *object,
    struct wndl_vec *candidates, struct wndl_error *err)
{
    struct symbol_table table = {.object = object};
    const struct wndl_object_section *section = find_type(object, SHT_SYMTAB);
    if (section == NULL)
        section = find_type(object, SHT_DYNSYM);
    if (section == NULL)
        return wndl_fail(err, WNDL_NOT_FOUND, "no symbol table");
    enum wndl_status status = open_table(&table, section, err);
    for (uint64_t i = 0; i < table.count && status == WNDL_OK; i++)
        status = add_symbol(&table, i, candidates, err);
    return status;
}
