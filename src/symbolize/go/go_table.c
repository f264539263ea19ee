/* SPDX-License-Identifier: MIT */
#include "symbolize/go/go_table.h"
#include "base/arena.h"
#include "dbg/go/pcln.h"

/* DW_LANG_Go (DWARF 5, table 7.17). */
enum { GO = 0x16 };

struct wndl_go_table {
    struct wndl_mem *mem;
    struct wndl_arena arena;
    struct wndl_pcln *pcln;
    struct wndl_vec frames; /* struct wndl_dwarf_frame: the last answer */
};

/* ---- where the table is */

struct place {
    struct wndl_object *binary;
    wndl_svma addr; /* of the table */
    struct wndl_pcln_source source;
};

static bool has_any(
    const struct wndl_object *binary, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wndl_object_has_section(binary, names[i]))
            return true;
    return false;
}

static uint64_t read_word(const struct place *place, struct wndl_bytes bytes,
    uint64_t offset, unsigned size)
{
    struct wndl_cursor c =
        wndl_cursor_at(bytes, offset, place->source.big_endian);
    return size == 8 ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
}

/* Whether the module data of the table is at `offset`; takes what it says. */
static bool is_module(struct place *place, struct wndl_bytes data,
    uint64_t offset, const struct wndl_pcln_module *module)
{
    unsigned size = module->word_size;
    if (read_word(place, data, offset, size) != place->addr.v ||
        read_word(place, data, offset + module->names * size, size) !=
            place->addr.v + module->names_offset)
        return false;
    wndl_svma inlined = {
        read_word(place, data, offset + module->inlined * size, size)};
    place->source.text.v =
        read_word(place, data, offset + module->text * size, size);
    place->source.inlined = wndl_object_loaded_bytes(place->binary, inlined);
    return true;
}

static bool find_module_in(struct place *place, struct wndl_bytes data,
    const struct wndl_pcln_module *module)
{
    for (uint64_t at = 0; at < data.size; at += module->word_size)
        if (is_module(place, data, at, module))
            return true;
    return false;
}

/* The file's bytes of a segment with data; empty for code. */
static struct wndl_bytes data_of(const struct wndl_object *binary, size_t index)
{
    struct wndl_segment segment = wndl_object_segment(binary, index);
    return segment.executable ? (struct wndl_bytes){0}
                              : wndl_object_loaded_bytes(binary, segment.addr);
}

/* Whether the place has a table, and all that is needed to read it. */
static bool find_module(struct place *place)
{
    struct wndl_pcln_module module;
    if (!wndl_pcln_module(
            place->source.table, place->source.big_endian, &module))
        return false;
    if (module.text == 0)
        return true;
    size_t count = wndl_object_segment_count(place->binary);
    for (size_t i = 0; i < count; i++)
        if (find_module_in(place, data_of(place->binary, i), &module))
            return true;
    return false;
}

static bool find_by_section(struct place *place, const char *name)
{
    struct wndl_section section;
    if (wndl_object_section_bytes(place->binary, name, &place->source.table,
            &section, NULL) != WNDL_OK)
        return false;
    place->addr = section.addr;
    return find_module(place);
}

/*
 * In a program that C's linker made, whose data has to be relocated, the table
 * is somewhere in .data.rel.ro.
 */
static bool find_in_segment(struct place *place, size_t index)
{
    enum { ALIGNMENT = 8 };
    struct wndl_bytes data = data_of(place->binary, index);
    wndl_svma start = wndl_object_segment(place->binary, index).addr;
    for (uint64_t at = 0; at < data.size; at += ALIGNMENT) {
        /* all magic numbers are about -1 */
        if (read_word(place, data, at, 4) < 0xfffffff0)
            continue;
        place->addr.v = start.v + at;
        place->source.table = wndl_bytes_slice(data, at, data.size - at);
        if (find_module(place))
            return true;
    }
    return false;
}

static bool find(struct place *place)
{
    static const char *const names[] = {
        ".gopclntab", ".data.rel.ro.gopclntab", "__gopclntab"};
    static const char *const marks[] = {".go.buildinfo", ".note.go.buildid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find_by_section(place, names[i]))
            return true;
    if (!has_any(place->binary, marks, sizeof marks / sizeof *marks) ||
        has_any(place->binary, names, sizeof names / sizeof *names))
        return false;
    size_t count = wndl_object_segment_count(place->binary);
    for (size_t i = 0; i < count; i++)
        if (find_in_segment(place, i))
            return true;
    return false;
}

enum wndl_status wndl_go_table_open(struct wndl_object *binary,
    struct wndl_mem *mem, struct wndl_go_table **out, struct wndl_error *damage)
{
    struct place place = {
        .binary = binary,
        .source = {.big_endian = wndl_object_is_big_endian(binary),
            .path = wndl_object_path(binary)},
    };
    *out = NULL;
    if (!find(&place))
        return WNDL_OK;
    struct wndl_go_table *table = wndl_mem_zalloc(mem, sizeof *table);
    if (table == NULL)
        return WNDL_NOMEM;
    table->mem = mem;
    wndl_arena_init(&table->arena, mem);
    wndl_vec_init(
        &table->frames, &table->arena, sizeof(struct wndl_dwarf_frame));
    enum wndl_status status =
        wndl_pcln_open(&place.source, mem, &table->pcln, damage);
    if (status == WNDL_OK) {
        *out = table;
        return status;
    }
    wndl_error_set_file(damage, place.source.path);
    wndl_go_table_close(table);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

void wndl_go_table_close(struct wndl_go_table *table)
{
    if (table == NULL)
        return;
    wndl_pcln_close(table->pcln);
    wndl_arena_free(&table->arena);
    wndl_mem_free(table->mem, table);
}

const struct wndl_error *wndl_go_table_damage(const struct wndl_go_table *table)
{
    return wndl_pcln_damage(table->pcln);
}

/* ---- answers */

static bool push_frame(
    struct wndl_go_table *table, const struct wndl_pcln_frame *from)
{
    struct wndl_dwarf_frame *frame = wndl_vec_push(&table->frames);
    if (frame == NULL)
        return false;
    *frame = (struct wndl_dwarf_frame){
        .name = from->name,
        .file = from->file,
        .line = from->line,
        .inlined = from->inlined,
        .language = GO,
        .function_start = from->function_start,
    };
    return true;
}

enum wndl_status wndl_go_table_lookup(struct wndl_go_table *table,
    wndl_svma addr, struct wndl_dwarf_frames *frames)
{
    struct wndl_pcln_frames found;
    table->frames.len = 0;
    *frames = (struct wndl_dwarf_frames){0};
    enum wndl_status status = wndl_pcln_lookup(table->pcln, addr, &found);
    if (status != WNDL_OK)
        return status;
    for (size_t i = 0; i < found.count; i++)
        if (!push_frame(table, &found.frames[i]))
            return WNDL_NOMEM;
    *frames = (struct wndl_dwarf_frames){table->frames.data, found.count};
    return WNDL_OK;
}

enum wndl_status wndl_go_table_visit_functions(struct wndl_go_table *table,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context)
{
    enum wndl_status status = WNDL_OK;
    size_t count = wndl_pcln_count(table->pcln);
    for (size_t i = 0; i < count && status == WNDL_OK; i++) {
        struct wndl_pcln_function from;
        if (!wndl_pcln_function(table->pcln, i, &from) ||
            from.end.v == from.start.v)
            continue;
        const struct wndl_dwarf_range range = {from.start, from.end};
        const struct wndl_dwarf_function function = {.name = from.name,
            .ranges = &range,
            .range_count = 1,
            .language = GO};
        status = visit(context, &function);
    }
    return status;
}

enum wndl_status wndl_go_table_changes(struct wndl_go_table *table,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    return wndl_pcln_changes(table->pcln, range.start, range.end, places);
}
