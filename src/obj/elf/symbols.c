/* SPDX-License-Identifier: MIT */
/*
 * symbols: the entries of an ELF symbol table that are functions (gABI 4.1,
 * "Symbol Table").
 *
 * Typed functions are. So are untyped labels and data in executable sections:
 * handwritten assembly often has nothing better, GHC calls its code data, and
 * functions.c drops those that lie inside a typed function.
 */
#include "obj/elf/impl.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

struct raw_symbol {
    uint64_t value, size;
    uint32_t name;
    uint32_t section;
    uint8_t info;
};

static struct raw_symbol read_symbol(
    const struct wndl_elf_symbols *table, uint64_t index)
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

/* The byte that excludes most symbols that are no functions. */
static unsigned read_info(const struct wndl_elf_symbols *table, uint64_t index)
{
    uint64_t at = table->object->address_size == 8
                      ? offsetof(Elf64_Sym, st_info)
                      : offsetof(Elf32_Sym, st_info);
    struct wndl_cursor c =
        wndl_cursor_at(table->entries, index * table->stride + at, false);
    return wndl_cursor_u8(&c);
}

/* The section a symbol is in, or NULL for the reserved indexes. */
static const struct wndl_object_section *section_of(
    const struct wndl_elf_symbols *table, const struct raw_symbol *raw,
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

/* The base of a symbol's value: in relocatable files its section. */
static uint64_t base_of(const struct wndl_elf_symbols *table,
    const struct wndl_object_section *section)
{
    bool relocatable = table->object->type == ET_REL;
    return relocatable && section != NULL ? section->view.addr.v : 0;
}

/* The latest possible end of a symbol without a size. */
static uint64_t limit_of(const struct wndl_elf_symbols *table,
    const struct wndl_object_section *section, uint64_t value)
{
    const struct wndl_object *object = table->object;
    if (section != NULL)
        return section->view.addr.v + section->view.size;
    size_t segments = object->section_count == 0 ? object->segment_count : 0;
    for (size_t i = 0; i < segments; i++) {
        const struct wndl_segment *segment = &object->segments[i];
        if (segment->executable && value >= segment->addr.v &&
            value - segment->addr.v < segment->mem_size)
            return segment->addr.v + segment->mem_size;
    }
    return value;
}

/*
 * ARM ELF, "Mapping symbols": $a, $d, $t, $x mark code and data, not names.
 * RISC-V writes the instruction set after it: "$xrv64i2p1".
 */
static bool is_marker(const uint8_t *name)
{
    bool local_label = name[0] == '.' && name[1] == 'L';
    bool mapping = name[0] == '$' && name[1] != '\0' &&
                   (name[2] == '\0' || name[2] == '.' ||
                       (name[1] == 'x' && name[2] == 'r' && name[3] == 'v'));
    return name[0] == '\0' || local_label || mapping;
}

static bool is_code(const struct wndl_object_section *section)
{
    return section != NULL && (section->view.flags & SHF_EXECINSTR) != 0;
}

static bool is_typed(unsigned info)
{
    return ELF64_ST_TYPE(info) == STT_FUNC ||
           ELF64_ST_TYPE(info) == STT_GNU_IFUNC;
}

static bool may_be_code(unsigned info)
{
    return ELF64_ST_TYPE(info) == STT_NOTYPE ||
           ELF64_ST_TYPE(info) == STT_OBJECT;
}

/* The end of a symbol, or without a size the latest possible one. */
static uint64_t end_of(const struct wndl_elf_symbols *table,
    const struct wndl_object_section *section, const struct raw_symbol *raw)
{
    if (raw->size == 0)
        return limit_of(table, section, raw->value);
    uint64_t end = raw->value + raw->size;
    return end < raw->value ? UINT64_MAX : end;
}

static bool add_function(const struct wndl_elf_symbols *table,
    const struct wndl_object_section *section, struct raw_symbol raw,
    struct wndl_vec *functions)
{
    struct wndl_function *function = wndl_vec_push(functions);
    if (function == NULL)
        return false;
    bool typed = is_typed(raw.info);
    /* Bit 0 of an ARM function's address says Thumb. */
    if (typed && table->object->machine == EM_ARM)
        raw.value &= ~UINT64_C(1);
    raw.value += base_of(table, section);
    *function = (struct wndl_function){
        .start = raw.value,
        .end = end_of(table, section, &raw),
        .name = wndl_bytes_slice(table->strings, raw.name, 1).data,
        .order = (uint32_t)functions->len,
        .kind = typed ? WNDL_SYMBOL_FUNC : WNDL_SYMBOL_OTHER,
        .binding = ELF64_ST_BIND(raw.info),
        .has_size = raw.size != 0,
    };
    return true;
}

static enum wndl_status add_symbol(const struct wndl_elf_symbols *table,
    uint64_t index, struct wndl_vec *functions, struct wndl_error *err)
{
    unsigned info = read_info(table, index);
    bool typed = is_typed(info);
    if (!typed && !may_be_code(info))
        return WNDL_OK;
    struct raw_symbol raw = read_symbol(table, index);
    if (raw.section == SHN_UNDEF || raw.section == SHN_COMMON)
        return WNDL_OK;
    const struct wndl_object_section *section = section_of(table, &raw, index);
    if (!typed && !is_code(section))
        return WNDL_OK;
    if (raw.name >= table->names_end)
        return wndl_fail_at(err, WNDL_MALFORMED, table->name,
            index * table->stride,
            "a symbol's name reaches past the string table");
    const uint8_t *name = wndl_bytes_slice(table->strings, raw.name, 1).data;
    if (typed ? name[0] == '\0' : is_marker(name))
        return WNDL_OK;
    return add_function(table, section, raw, functions)
               ? WNDL_OK
               : wndl_fail(err, WNDL_NOMEM, "no memory for the symbols");
}

bool wndl_elf_symbol_address(
    const struct wndl_elf_symbols *symbols, uint32_t index, uint64_t *address)
{
    if (index >= symbols->count)
        return false;
    struct raw_symbol raw = read_symbol(symbols, index);
    *address = 0;
    if (raw.section == SHN_UNDEF || raw.section == SHN_COMMON)
        return true;
    *address = raw.value + base_of(symbols, section_of(symbols, &raw, index));
    return true;
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

enum wndl_status wndl_elf_symbols_open(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_elf_symbols *table,
    struct wndl_error *err)
{
    *table = (struct wndl_elf_symbols){.object = object};
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
            "symbols too small for their class");
    table->count = table->entries.size / table->stride;
    if (table->count > UINT32_MAX)
        return wndl_fail_at(
            err, WNDL_LIMIT, table->name, 0, "more symbols than fit 32 bits");
    table->indexes = find_indexes(object, section);
    return WNDL_OK;
}

/* A debug file keeps the header of .dynsym, but as SHT_NOBITS. */
static enum wndl_status open_best(const struct wndl_object *object,
    struct wndl_elf_symbols *table, struct wndl_error *err)
{
    const struct wndl_object_section *section = find_type(object, SHT_SYMTAB);
    if (section == NULL)
        section = find_type(object, SHT_DYNSYM);
    if (section == NULL && object->section_count != 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no symbol table");
    if (section == NULL)
        return wndl_elf_dynamic_open(object, table, err);
    return wndl_elf_symbols_open(object, section, table, err);
}

/* Names from there on do not end. */
static uint64_t names_end(struct wndl_bytes strings)
{
    const uint8_t *last =
        strings.size == 0 ? NULL : memrchr(strings.data, '\0', strings.size);
    return last == NULL ? 0 : (uint64_t)(last - strings.data) + 1;
}

bool wndl_elf_lacks_symbols(const struct wndl_object *object)
{
    const struct wndl_object_section *all = find_type(object, SHT_SYMTAB);
    const struct wndl_object_section *some = find_type(object, SHT_DYNSYM);
    return all == NULL || (some != NULL && all->view.size < some->view.size);
}

static enum wndl_status read_table(const struct wndl_elf_symbols *opened,
    struct wndl_vec *functions, struct wndl_error *err)
{
    struct wndl_elf_symbols table = *opened;
    enum wndl_status status = WNDL_OK;
    table.names_end = names_end(table.strings);
    for (uint64_t i = 0; status == WNDL_OK && i < table.count; i++)
        status = add_symbol(&table, i, functions, err);
    return status;
}

enum wndl_status wndl_elf_read_functions(const struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    struct wndl_elf_symbols table;
    const struct wndl_object_section *dynamic = find_type(object, SHT_DYNSYM);
    enum wndl_status status = open_best(object, &table, err);
    if (status == WNDL_OK)
        status = read_table(&table, functions, err);
    if (status != WNDL_OK || find_type(object, SHT_SYMTAB) == NULL ||
        !wndl_elf_lacks_symbols(object))
        return status;
    status = wndl_elf_symbols_open(object, dynamic, &table, err);
    return status == WNDL_OK ? read_table(&table, functions, err) : status;
}

static bool is_named(
    const struct wndl_elf_symbols *table, uint64_t at, const char *name)
{
    size_t size = strlen(name) + 1;
    struct wndl_bytes found = wndl_bytes_slice(table->strings, at, size);
    return found.size == size && memcmp(found.data, name, size) == 0;
}

/* Few files have it, so names are compared first. */
enum wndl_status wndl_object_find_variable(const struct wndl_object *object,
    const char *name, wndl_svma *addr, struct wndl_error *err)
{
    struct wndl_elf_symbols table;
    enum wndl_status status = open_best(object, &table, err);
    if (status != WNDL_OK)
        return status;
    if (table.strings.size == 0 ||
        memmem(table.strings.data, table.strings.size, name,
            strlen(name) + 1) == NULL)
        return WNDL_NOT_FOUND;
    for (uint64_t i = 0; i < table.count; i++) {
        struct raw_symbol raw = read_symbol(&table, i);
        if (ELF64_ST_TYPE(raw.info) != STT_OBJECT ||
            !is_named(&table, raw.name, name))
            continue;
        const struct wndl_object_section *section = section_of(&table, &raw, i);
        if (raw.section == SHN_UNDEF)
            continue;
        addr->v = raw.value + base_of(&table, section);
        return WNDL_OK;
    }
    return WNDL_NOT_FOUND;
}

static bool is_variable(const struct raw_symbol *raw)
{
    const unsigned type = ELF64_ST_TYPE(raw->info);
    return (type == STT_OBJECT || type == STT_NOTYPE) && raw->size != 0 &&
           raw->section != SHN_UNDEF && raw->section != SHN_COMMON;
}

enum wndl_status wndl_object_each_variable(const struct wndl_object *object,
    bool (*visit)(void *context, const struct wndl_symbol *variable),
    void *context, struct wndl_error *err)
{
    struct wndl_elf_symbols table;
    enum wndl_status status = open_best(object, &table, err);
    if (status != WNDL_OK)
        return status;
    const uint64_t end = names_end(table.strings);
    for (uint64_t i = 0; i < table.count; i++) {
        const struct raw_symbol raw = read_symbol(&table, i);
        if (!is_variable(&raw) || raw.name == 0 || raw.name >= end)
            continue;
        const char *name = (const char *)table.strings.data + raw.name;
        const struct wndl_symbol variable = {
            .name = {(const uint8_t *)name, strlen(name)},
            .addr = {raw.value + base_of(&table, section_of(&table, &raw, i))},
            .size = raw.size,
            .kind = WNDL_SYMBOL_DATA,
            .binding = ELF64_ST_BIND(raw.info),
        };
        if (!visit(context, &variable))
            break;
    }
    return WNDL_OK;
}
