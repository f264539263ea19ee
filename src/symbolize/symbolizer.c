/* SPDX-License-Identifier: MIT */
/*
 * symbolizer: joins a binary, its debug file, their symbol tables and DWARF
 * into one answer per address, and remembers the answers.
 */
#include "symbolize/symbolizer.h"
#include "base/map.h"
#include "dbg/dwarf.h"
#include "obj/debugfile.h"
#include "obj/object.h"
#include "os/file.h"
#include "symbolize/demangle.h"

#include <elf.h>
#include <string.h>
#include <windlass/symbolize.h>

/*
 * `debug` is the file that DWARF is read from and `symbols` the one whose
 * symbol table is: each is `binary` or debugfile.object. `dwarf` is NULL
 * without DWARF. `answers` maps an rva to a struct wndl_symbols of the arena;
 * one of count 0 says that nothing is known there.
 */
struct wndl_symbolizer {
    struct wndl_mem *mem;
    struct wndl_arena arena;
    struct wndl_file file;
    struct wndl_object *binary;
    struct wndl_debugfile debugfile;
    struct wndl_object *debug;
    struct wndl_object *symbols;
    struct wndl_dwarf *dwarf;
    struct wndl_demangler demangler;
    struct wndl_map answers;
    struct wndl_error damage; /* the first outside of DWARF units */
    bool has_symtab;
    bool no_demangle;
};

static enum wndl_status no_memory(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOMEM, "no memory to symbolize");
}

/* A caller's may hold anything, an earlier call's trouble for one. */
static void forget(struct wndl_error *err)
{
    if (err != NULL)
        *err = (struct wndl_error){0};
}

static void note_damage(
    struct wndl_symbolizer *s, const struct wndl_error *damage)
{
    if (s->damage.status == WNDL_OK)
        s->damage = *damage;
}

static bool has_section_type(const struct wndl_object *object, uint32_t type)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++)
        if (wndl_object_section(object, i).type == type)
            return true;
    return false;
}

static bool has_dwarf(struct wndl_object *object)
{
    struct wndl_section section;
    struct wndl_bytes bytes;
    return wndl_object_section_bytes(
               object, ".debug_info", &bytes, &section, NULL) != WNDL_NOT_FOUND;
}

/*
 * A section that is there but cannot be read is damage, and the DWARF reader
 * goes on without it.
 */
static enum wndl_status load_section(
    struct wndl_symbolizer *s, const char *name, struct wndl_bytes *bytes)
{
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_section_bytes(s->debug, name, bytes, NULL, &err);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK && status != WNDL_NOT_FOUND)
        note_damage(s, &err);
    return WNDL_OK;
}

static enum wndl_status load_sections(
    struct wndl_symbolizer *s, struct wndl_dwarf_sections *sections)
{
    const struct {
        const char *name;
        struct wndl_bytes *bytes;
    } wanted[] = {
        {".debug_info", &sections->info},
        {".debug_abbrev", &sections->abbrev},
        {".debug_line", &sections->line},
        {".debug_line_str", &sections->line_str},
        {".debug_str", &sections->str},
        {".debug_str_offsets", &sections->str_offsets},
        {".debug_addr", &sections->addr},
        {".debug_ranges", &sections->ranges},
        {".debug_rnglists", &sections->rnglists},
        {".debug_aranges", &sections->aranges},
    };
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (status == WNDL_OK)
            status = load_section(s, wanted[i].name, wanted[i].bytes);
    return status;
}

static enum wndl_status open_dwarf(
    struct wndl_symbolizer *s, struct wndl_error *err)
{
    if (!has_dwarf(s->debug))
        return WNDL_OK;
    struct wndl_dwarf_sections sections = {
        .big_endian = wndl_object_is_big_endian(s->debug),
    };
    if (load_sections(s, &sections) != WNDL_OK)
        return no_memory(err);
    struct wndl_error damage = {0};
    enum wndl_status status =
        wndl_dwarf_open(&sections, s->mem, &s->dwarf, &damage);
    if (status == WNDL_NOMEM)
        return no_memory(err);
    if (status != WNDL_OK) {
        s->dwarf = NULL;
        wndl_error_set_file(&damage, wndl_object_path(s->debug));
        note_damage(s, &damage);
    }
    return WNDL_OK;
}

/* A debug file holds the full table; else the binary's, if only .dynsym. */
static void choose_symbols(struct wndl_symbolizer *s)
{
    struct wndl_object *separate = s->debugfile.object;
    bool in_separate =
        separate != NULL && has_section_type(separate, SHT_SYMTAB);
    s->symbols = in_separate ? separate : s->binary;
    s->has_symtab = in_separate || has_section_type(s->binary, SHT_SYMTAB);
}

static enum wndl_status find_debugfile(
    struct wndl_symbolizer *s, const char *const *dirs, struct wndl_error *err)
{
    s->debug = s->binary;
    if (has_dwarf(s->binary))
        return WNDL_OK;
    struct wndl_error refusal = {0};
    enum wndl_status status =
        wndl_debugfile_find(s->binary, dirs, s->mem, &s->debugfile, &refusal);
    if (status == WNDL_NOMEM)
        return no_memory(err);
    if (status == WNDL_OK)
        s->debug = s->debugfile.object;
    else if (refusal.file[0] != '\0')
        note_damage(s, &refusal);
    return WNDL_OK;
}

static enum wndl_status check_binary(const struct wndl_symbolizer *s,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    if (!wndl_object_is_image(s->binary)) {
        wndl_error_set_file(err, wndl_object_path(s->binary));
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "neither a program nor a shared library");
    }
    if (options->build_id == NULL)
        return WNDL_OK;
    struct wndl_bytes wanted = {options->build_id, options->build_id_size};
    if (wndl_bytes_equal(wndl_object_build_id(s->binary), wanted))
        return WNDL_OK;
    wndl_error_set_file(err, wndl_object_path(s->binary));
    return wndl_fail(err, WNDL_NOT_FOUND,
        "the file is another build than the one asked for");
}

static enum wndl_status open_all(struct wndl_symbolizer *s, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    if (!wndl_demangler_init(&s->demangler, &s->arena))
        return no_memory(err);
    enum wndl_status status = wndl_file_open(path, &s->file, err);
    if (status == WNDL_OK)
        status = wndl_object_open(s->file.bytes, path, s->mem, &s->binary, err);
    if (status == WNDL_OK)
        status = check_binary(s, options, err);
    if (status == WNDL_OK)
        status = find_debugfile(s, options->debug_dirs, err);
    if (status == WNDL_OK)
        status = open_dwarf(s, err);
    if (status == WNDL_OK)
        choose_symbols(s);
    return status;
}

/* What a caller of an older header did not know of stays zero. */
static struct wndl_symbolizer_options known_options(
    const struct wndl_symbolizer_options *options)
{
    struct wndl_symbolizer_options known = {0};
    if (options == NULL)
        return known;
    size_t size = options->size < sizeof known ? options->size : sizeof known;
    memcpy(&known, options, size);
    return known;
}

enum wndl_status wndl_symbolizer_open(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    return wndl_symbolizer_open_with(wndl_mem_libc(), path, options, out, err);
}

enum wndl_status wndl_symbolizer_open_with(struct wndl_mem *mem,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err)
{
    *out = NULL;
    forget(err);
    struct wndl_symbolizer *s = wndl_mem_zalloc(mem, sizeof *s);
    if (s == NULL)
        return no_memory(err);
    struct wndl_symbolizer_options known = known_options(options);
    s->mem = mem;
    s->no_demangle = known.no_demangle;
    wndl_arena_init(&s->arena, mem);
    wndl_map_init(&s->answers, &s->arena);
    enum wndl_status status = open_all(s, path, &known, err);
    if (status != WNDL_OK) {
        wndl_symbolizer_close(s);
        return status;
    }
    *out = s;
    return WNDL_OK;
}

void wndl_symbolizer_close(struct wndl_symbolizer *s)
{
    if (s == NULL)
        return;
    if (s->dwarf != NULL)
        wndl_dwarf_close(s->dwarf);
    wndl_debugfile_close(&s->debugfile);
    wndl_object_close(s->binary);
    wndl_file_close(&s->file);
    wndl_arena_free(&s->arena);
    wndl_mem_free(s->mem, s);
}

/* Fills mangled and function. False when memory is out. */
static bool set_name(struct wndl_symbolizer *s, struct wndl_symbol_frame *frame,
    struct wndl_bytes name)
{
    frame->mangled = name.size == 0 ? "" : (const char *)name.data;
    frame->function = s->no_demangle || name.size == 0
                          ? frame->mangled
                          : wndl_demangle(&s->demangler, name);
    return frame->function != NULL;
}

static wndl_rva to_rva(const struct wndl_symbolizer *s, wndl_svma addr)
{
    return wndl_rva_of_svma(addr, wndl_object_image_base(s->binary));
}

static bool fill_from_dwarf(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frame, const struct wndl_dwarf_frame *from)
{
    bool linked = from->linkage_name.size != 0;
    frame->file = from->file.size == 0 ? "" : (const char *)from->file.data;
    frame->line = from->line;
    frame->column = from->column;
    frame->inlined = from->inlined;
    frame->function_rva = to_rva(s, from->function_start).v;
    return set_name(s, frame, linked ? from->linkage_name : from->name);
}

static bool fill_from_symbol(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frame, const struct wndl_symbol *symbol)
{
    frame->function_rva = to_rva(s, symbol->addr).v;
    return set_name(s, frame, symbol->name);
}

/*
 * The symbol knows which clone of a function it is (.cold, .part, .isra) and
 * has the full name of what DWARF calls by its last part only. One without a
 * size or type is no more than a guess, and yields to DWARF.
 */
static bool symbol_wins(
    const struct wndl_symbol *symbol, const struct wndl_symbol_frame *frame)
{
    bool sure = symbol->size != 0 && symbol->kind == WNDL_SYMBOL_FUNC;
    return sure || frame->mangled[0] == '\0';
}

static bool fill_frames(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frames, const struct wndl_dwarf_frames *from,
    const struct wndl_symbol *symbol)
{
    for (size_t i = 0; i < from->count; i++)
        if (!fill_from_dwarf(s, &frames[i], &from->frames[i]))
            return false;
    if (from->count == 0) {
        frames[0].file = "";
        return fill_from_symbol(s, &frames[0], symbol);
    }
    struct wndl_symbol_frame *outermost = &frames[from->count - 1];
    if (symbol != NULL && symbol_wins(symbol, outermost))
        return fill_from_symbol(s, outermost, symbol);
    return true;
}

static enum wndl_status find_symbol(
    struct wndl_symbolizer *s, wndl_svma addr, struct wndl_symbol *symbol)
{
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_find_function(s->symbols, addr, symbol, &err);
    if (status != WNDL_OK && status != WNDL_NOT_FOUND && status != WNDL_NOMEM)
        note_damage(s, &err);
    return status;
}

static enum wndl_status resolve(
    struct wndl_symbolizer *s, wndl_svma addr, struct wndl_symbols *answer)
{
    struct wndl_dwarf_frames frames = {0};
    struct wndl_symbol symbol;
    enum wndl_status found = find_symbol(s, addr, &symbol);
    if (found == WNDL_NOMEM)
        return found;
    if (s->dwarf != NULL) {
        enum wndl_status status =
            wndl_dwarf_lookup(s->dwarf, addr, &frames, NULL);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK)
            frames.count = 0;
    }
    size_t count = frames.count;
    if (count == 0 && found == WNDL_OK)
        count = 1;
    struct wndl_symbol_frame *filled =
        wndl_arena_calloc(&s->arena, count, sizeof *filled);
    if (filled == NULL)
        return WNDL_NOMEM;
    if (count != 0 &&
        !fill_frames(s, filled, &frames, found == WNDL_OK ? &symbol : NULL))
        return WNDL_NOMEM;
    *answer = (struct wndl_symbols){filled, count};
    return WNDL_OK;
}

/* `name` with "@plt" after it, in the arena; NULL when memory is out. */
static const char *stub_name(struct wndl_symbolizer *s, const char *name)
{
    static const char mark[] = "@plt";
    size_t size = strlen(name);
    char *marked = wndl_arena_alloc(&s->arena, size + sizeof mark);
    if (marked == NULL)
        return NULL;
    memcpy(marked, name, size);
    memcpy(marked + size, mark, sizeof mark);
    return marked;
}

static bool fill_from_stub(struct wndl_symbolizer *s,
    struct wndl_symbol_frame *frame, const struct wndl_symbol *stub)
{
    frame->file = "";
    if (!fill_from_symbol(s, frame, stub))
        return false;
    if (stub->name.size == 0) {
        frame->mangled = frame->function = "[plt]";
        return true;
    }
    bool plain = frame->function == frame->mangled;
    frame->mangled = stub_name(s, frame->mangled);
    frame->function = plain ? frame->mangled : stub_name(s, frame->function);
    return frame->mangled != NULL && frame->function != NULL;
}

/* Stubs are in no symbol table and no debug information. */
static enum wndl_status resolve_stub(
    struct wndl_symbolizer *s, wndl_svma addr, struct wndl_symbols *answer)
{
    struct wndl_symbol stub;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_find_plt(s->binary, addr, &stub, &err);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK) {
        if (status != WNDL_NOT_FOUND)
            note_damage(s, &err);
        return WNDL_OK;
    }
    struct wndl_symbol_frame *frame =
        wndl_arena_alloc(&s->arena, sizeof *frame);
    if (frame == NULL || !fill_from_stub(s, frame, &stub))
        return WNDL_NOMEM;
    *answer = (struct wndl_symbols){frame, 1};
    return WNDL_OK;
}

static const struct wndl_symbols *remember(
    struct wndl_symbolizer *s, uint64_t rva)
{
    wndl_rva at = {rva};
    struct wndl_symbols *answer = wndl_arena_alloc(&s->arena, sizeof *answer);
    wndl_svma addr = wndl_svma_of_rva(at, wndl_object_image_base(s->binary));
    if (answer == NULL || resolve(s, addr, answer) != WNDL_OK)
        return NULL;
    if (answer->count == 0 && resolve_stub(s, addr, answer) != WNDL_OK)
        return NULL;
    uint64_t *slot = wndl_map_put(&s->answers, rva);
    if (slot == NULL)
        return NULL;
    *slot = (uintptr_t)answer;
    return answer;
}

enum wndl_status wndl_symbolizer_lookup(struct wndl_symbolizer *s, uint64_t rva,
    struct wndl_symbols *answer, struct wndl_error *err)
{
    *answer = (struct wndl_symbols){0};
    const uint64_t *known = wndl_map_get(&s->answers, rva);
    const struct wndl_symbols *found =
        known != NULL ? (const struct wndl_symbols *)(uintptr_t)*known
                      : remember(s, rva);
    if (found == NULL || found->count == 0)
        forget(err);
    if (found == NULL)
        return no_memory(err);
    if (found->count == 0)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "no symbol or debug information covers the address");
    *answer = *found;
    return WNDL_OK;
}

void wndl_symbolizer_get_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    struct wndl_dwarf_stats stats = {0};
    if (s->dwarf != NULL)
        wndl_dwarf_get_stats(s->dwarf, &stats);
    *info = (struct wndl_symbolizer_info){
        .has_dwarf = s->dwarf != NULL,
        .has_symtab = s->has_symtab,
        .debug_file = s->dwarf == NULL ? "" : wndl_object_path(s->debug),
        .units_damaged = stats.units_damaged,
        .first_damage =
            s->damage.status != WNDL_OK ? s->damage : stats.first_damage,
    };
}
