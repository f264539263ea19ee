/* SPDX-License-Identifier: MIT */
/*
 * symbolizer: joins a binary, its debug file, their symbol tables and DWARF
 * into one answer per address, and remembers the answers.
 */
#include "symbolize/symbolizer.h"
#include "base/workers.h"
#include "obj/packed/zip.h"
#include "symbolize/debuginfod.h"
#include "symbolize/symbolizer_impl.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

/* Bytes of .debug_info: less is read before a thread has started. */
enum { WORTH_A_THREAD = 1 << 20 };

enum wndl_status wndl_symbolizer_no_memory(struct wndl_error *err)
{
    wndl_symbolizer_forget(err);
    return wndl_fail(err, WNDL_NOMEM, "no memory to symbolize");
}

enum wndl_status wndl_symbolizer_other_build(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOT_FOUND,
        "the file is another build than the one asked for");
}

void wndl_symbolizer_note_damage(
    struct wndl_symbolizer *s, const struct wndl_error *damage)
{
    if (s->damage.status == WNDL_OK)
        s->damage = *damage;
}

static bool has_dwarf(const struct wndl_object *object)
{
    return wndl_object_has_section(object, ".debug_info");
}

static void give_up(void *context)
{
    const struct wndl_symbolizer *s = context;
    wndl_file_give_up(&s->file);
    wndl_file_give_up(&s->debugfile.file);
}

static enum wndl_status open_dwarf(struct wndl_symbolizer *s)
{
    struct wndl_dwarf_sections sections;
    struct wndl_error damage;
    if (wndl_debug_files_start(s->files, &sections, &damage) != WNDL_OK)
        return WNDL_NOMEM;
    if (damage.status != WNDL_OK)
        wndl_symbolizer_note_damage(s, &damage);
    sections.memory = (struct wndl_dwarf_memory){s, give_up};
    enum wndl_status status =
        wndl_dwarf_open(&sections, s->mem, &s->dwarf, &damage);
    if (status == WNDL_OK || status == WNDL_NOMEM)
        return status;
    s->dwarf = NULL;
    wndl_symbolizer_note_damage(s, &damage);
    return WNDL_OK;
}

enum wndl_status wndl_symbolizer_need_dwarf(struct wndl_symbolizer *s)
{
    if (!s->is_deferred)
        return WNDL_OK;
    enum wndl_status status = wndl_symbolizer_is_breakpad(s)
                                  ? wndl_symbolizer_open_breakpad(s)
                                  : open_dwarf(s);
    s->is_deferred = status != WNDL_OK;
    return status;
}

/* Where there are answers already, it may not be needed. */
static enum wndl_status begin_dwarf(
    struct wndl_symbolizer *s, const char *const *dirs, struct wndl_error *err)
{
    if (!has_dwarf(s->debug))
        return wndl_debug_map_open(s->binary, dirs, s->mem, &s->map) == WNDL_OK
                   ? WNDL_OK
                   : wndl_symbolizer_no_memory(err);
    s->files = wndl_debug_files_new(&s->arena, s->binary, s->debug, dirs);
    s->is_deferred = true;
    if (s->files == NULL || (s->cache.answers.count == 0 &&
                                wndl_symbolizer_need_dwarf(s) != WNDL_OK))
        return wndl_symbolizer_no_memory(err);
    return WNDL_OK;
}

/* A debug file holds the full table; else the binary's, if only .dynsym. */
static void choose_symbols(struct wndl_symbolizer *s)
{
    struct wndl_object *separate = s->debugfile.object;
    bool in_separate = separate != NULL && wndl_object_has_symtab(separate);
    s->symbols = in_separate ? separate : s->binary;
    s->has_symtab = in_separate || wndl_object_has_symtab(s->binary);
}

/* From a server. NOT_FOUND when that gives nothing, for whatever reason. */
static enum wndl_status fetch_debugfile(struct wndl_symbolizer *s)
{
    char path[PATH_MAX];
    struct wndl_error err = {0};
    enum wndl_status status = wndl_debuginfod_fetch(
        wndl_object_build_id(s->binary), path, sizeof path, &err);
    if (status == WNDL_NOT_FOUND)
        return status;
    if (status == WNDL_OK)
        status =
            wndl_debugfile_open(s->binary, path, s->mem, &s->debugfile, &err);
    if (status == WNDL_OK || status == WNDL_NOMEM)
        return status;
    wndl_symbolizer_note_damage(s, &err);
    return WNDL_NOT_FOUND;
}

static enum wndl_status find_debugfile(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    s->debug = s->binary;
    if (wndl_symbolizer_find_pdb(s, options) != WNDL_OK)
        return wndl_symbolizer_no_memory(err);
    if (has_dwarf(s->binary) || s->pdb != NULL)
        return WNDL_OK;
    struct wndl_error refusal = {0};
    enum wndl_status status = wndl_debugfile_find(
        s->binary, options->debug_dirs, s->mem, &s->debugfile, &refusal);
    if (status == WNDL_NOT_FOUND && refusal.file[0] != '\0')
        wndl_symbolizer_note_damage(s, &refusal);
    if (status == WNDL_NOT_FOUND && options->debuginfod)
        status = fetch_debugfile(s);
    if (status == WNDL_NOMEM)
        return wndl_symbolizer_no_memory(err);
    if (status == WNDL_OK)
        s->debug = s->debugfile.object;
    return WNDL_OK;
}

static enum wndl_status check_binary(const struct wndl_symbolizer *s,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    if (!wndl_object_is_image(s->binary) &&
        !wndl_object_is_relocatable(s->binary)) {
        wndl_error_set_file(err, wndl_object_path(s->binary));
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "neither a program, a library nor an object file");
    }
    if (options->build_id == NULL)
        return WNDL_OK;
    struct wndl_bytes wanted = {options->build_id, options->build_id_size};
    if (wndl_bytes_equal(wndl_object_build_id(s->binary), wanted))
        return WNDL_OK;
    wndl_error_set_file(err, wndl_object_path(s->binary));
    return wndl_symbolizer_other_build(err);
}

static enum wndl_status open_binary(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    const struct wndl_object_source source = {bytes, path, options->arch};
    enum wndl_status status =
        wndl_object_open_source(&source, s->mem, &s->binary, err);
    if (status == WNDL_OK)
        status = check_binary(s, options, err);
    if (status == WNDL_OK)
        status = find_debugfile(s, options, err);
    if (status == WNDL_OK &&
        wndl_symbolizer_open_cache(s, options->cache) != WNDL_OK)
        status = wndl_symbolizer_no_memory(err);
    if (status == WNDL_OK)
        status = begin_dwarf(s, options->debug_dirs, err);
    if (status == WNDL_OK)
        choose_symbols(s);
    return status;
}

static enum wndl_status open_symbol_file(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    enum wndl_status status =
        wndl_symbolizer_begin_breakpad(s, bytes, path, options, err);
    if (status != WNDL_OK)
        return status;
    if (wndl_symbolizer_open_cache(s, options->cache) != WNDL_OK ||
        (s->cache.answers.count == 0 &&
            wndl_symbolizer_need_dwarf(s) != WNDL_OK))
        return wndl_symbolizer_no_memory(err);
    return WNDL_OK;
}

/* On the bytes of a file that `path` is the name of. */
static enum wndl_status open_bytes(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    if (!wndl_demangler_init(&s->demangler, &s->arena))
        return wndl_symbolizer_no_memory(err);
    if (wndl_pdb_is(bytes))
        return wndl_symbolizer_begin_pdb(s, bytes, path, options, err);
    return wndl_breakpad_is(bytes)
               ? open_symbol_file(s, bytes, path, options, err)
               : open_binary(s, bytes, path, options, err);
}

/* What a caller of an older header did not know of stays zero, and what one
 * of a newer header knows more than we do must be. */
static enum wndl_status known_options(
    const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer_options *known, struct wndl_error *err)
{
    *known = (struct wndl_symbolizer_options){0};
    if (options == NULL)
        return WNDL_OK;
    for (size_t at = sizeof *known; at < options->size; at++)
        if (((const char *)options)[at] != 0)
            return wndl_fail(err, WNDL_UNSUPPORTED,
                "an option that this version of the library does not know");
    memcpy(known, options,
        options->size < sizeof *known ? options->size : sizeof *known);
    return WNDL_OK;
}

/* What to open: a path, else bytes, else through a reader. */
struct source {
    const char *path;
    struct wndl_bytes bytes;
    const struct wndl_symbolizer_reader *reader;
};

/* All of it, a piece at a time. */
static enum wndl_status read_all(struct wndl_symbolizer *s,
    const struct wndl_symbolizer_reader *reader, struct wndl_error *err)
{
    enum { STEP = 1 << 20 };
    if (reader->size > SIZE_MAX)
        return wndl_fail(err, WNDL_LIMIT, "too large for this address space");
    size_t size = (size_t)reader->size;
    s->read = s->mem->resize(s->mem, NULL, size == 0 ? 1 : size);
    if (s->read == NULL)
        return wndl_symbolizer_no_memory(err);
    for (size_t at = 0; at < size; at += STEP) {
        int refused = reader->read_at(reader->context, at, s->read + at,
            size - at < STEP ? size - at : STEP);
        if (refused != 0)
            return wndl_fail_errno(err, refused, "cannot read the binary");
    }
    return WNDL_OK;
}

static enum wndl_status open_path(struct wndl_symbolizer *s, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    struct wndl_bytes bytes;
    struct wndl_error refusal = {0};
    enum wndl_status status =
        wndl_zip_open_path(path, &s->file, &bytes, &refusal);
    if (status == WNDL_OK)
        return open_bytes(s, bytes, path, options, err);
    if (refusal.sys_errno == ENOENT || refusal.sys_errno == ENOTDIR)
        status = wndl_symbolizer_open_pdb_alone(s, path, options, &refusal);
    if (status != WNDL_OK && err != NULL)
        *err = refusal;
    return status;
}

static enum wndl_status open_source(struct wndl_symbolizer *s,
    const struct source *from, const struct wndl_symbolizer_options *options,
    struct wndl_error *err)
{
    if (from->path != NULL)
        return open_path(s, from->path, options, err);
    if (from->reader == NULL)
        return open_bytes(s, from->bytes, options->name, options, err);
    wndl_error_set_file(err, options->name);
    enum wndl_status status = read_all(s, from->reader, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_bytes bytes = {s->read, (size_t)from->reader->size};
    return open_bytes(s, bytes, options->name, options, err);
}

static struct wndl_symbolizer *new_symbolizer(struct wndl_mem *mem)
{
    struct wndl_symbolizer *s = wndl_mem_zalloc(mem, sizeof *s);
    if (s == NULL)
        return NULL;
    s->mem = mem;
    pthread_mutex_init(&s->lock, NULL);
    s->workers =
        (struct wndl_dwarf_workers){wndl_workers_cores(), WORTH_A_THREAD};
    wndl_arena_init(&s->arena, mem);
    wndl_map_init(&s->answers, &s->arena);
    return s;
}

static enum wndl_status open_from(struct wndl_mem *mem,
    const struct source *from, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err)
{
    struct wndl_symbolizer_options known;
    *out = NULL;
    wndl_symbolizer_forget(err);
    enum wndl_status status = known_options(options, &known, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_symbolizer *s = new_symbolizer(mem);
    if (s == NULL)
        return wndl_symbolizer_no_memory(err);
    s->no_demangle = known.no_demangle;
    status = open_source(s, from, &known, err);
    if (status != WNDL_OK) {
        wndl_symbolizer_close(s);
        return status;
    }
    *out = s;
    return WNDL_OK;
}

enum wndl_status wndl_symbolizer_open_with(struct wndl_mem *mem,
    const char *path, const struct wndl_symbolizer_options *options,
    struct wndl_symbolizer **out, struct wndl_error *err)
{
    const struct source from = {.path = path};
    return open_from(mem, &from, options, out, err);
}

enum wndl_status wndl_symbolizer_open(const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    return wndl_symbolizer_open_with(wndl_mem_libc(), path, options, out, err);
}

enum wndl_status wndl_symbolizer_open_memory(const void *bytes, size_t size,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    const struct source from = {.bytes = {bytes, size}};
    return open_from(wndl_mem_libc(), &from, options, out, err);
}

enum wndl_status wndl_symbolizer_open_reader_with(struct wndl_mem *mem,
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    const struct source from = {.reader = reader};
    return open_from(mem, &from, options, out, err);
}

enum wndl_status wndl_symbolizer_open_reader(
    const struct wndl_symbolizer_reader *reader,
    const struct wndl_symbolizer_options *options, struct wndl_symbolizer **out,
    struct wndl_error *err)
{
    return wndl_symbolizer_open_reader_with(
        wndl_mem_libc(), reader, options, out, err);
}

void wndl_symbolizer_close(struct wndl_symbolizer *s)
{
    if (s == NULL)
        return;
    wndl_symbolizer_close_cache(s);
    wndl_breakpad_close(s->breakpad);
    if (s->binary == NULL)
        wndl_pdb_close(s->pdb);
    wndl_pdb_file_close(&s->pdb_file, s->mem);
    if (s->dwarf != NULL)
        wndl_dwarf_close(s->dwarf);
    wndl_debug_map_close(s->map);
    wndl_debug_files_close(s->files);
    wndl_debugfile_close(&s->debugfile);
    wndl_object_close(s->binary);
    wndl_file_close(&s->file);
    wndl_arena_free(&s->arena);
    pthread_mutex_destroy(&s->lock);
    wndl_mem_free(s->mem, s->read);
    wndl_mem_free(s->mem, s);
}

enum wndl_status wndl_symbolizer_section(const struct wndl_symbolizer *s,
    const char *name, uint64_t *rva, struct wndl_error *err)
{
    *rva = 0;
    size_t count = s->binary == NULL ? 0 : wndl_object_section_count(s->binary);
    for (size_t i = 0; i < count; i++) {
        struct wndl_section section = wndl_object_section(s->binary, i);
        if ((section.flags & SHF_ALLOC) == 0 ||
            !wndl_bytes_is(section.name, name))
            continue;
        *rva = section.addr.v - wndl_object_image_base(s->binary).v;
        return WNDL_OK;
    }
    wndl_symbolizer_forget(err);
    wndl_error_set_file(err, s->binary != NULL ? wndl_object_path(s->binary)
                             : s->pdb != NULL  ? s->pdb_path
                                               : s->breakpad_path);
    return wndl_fail(
        err, WNDL_NOT_FOUND, "no section that is loaded is called %s", name);
}

static void get_breakpad_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    struct wndl_breakpad_stats stats = {0};
    if (s->breakpad != NULL)
        wndl_breakpad_get_stats(s->breakpad, &stats);
    *info = (struct wndl_symbolizer_info){
        .has_symtab = true,
        .debug_file = "",
        .units_damaged = stats.damaged,
        .first_damage = stats.first_damage,
        .address_size = s->is_narrow ? 4 : 8,
    };
}

static void get_binary_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    struct wndl_dwarf_stats stats = {0};
    struct wndl_bytes build_id = wndl_object_build_id(s->binary);
    if (s->dwarf != NULL)
        wndl_dwarf_get_stats(s->dwarf, &stats);
    if (s->map != NULL)
        wndl_debug_map_get_stats(s->map, &stats);
    bool relocatable = wndl_object_is_relocatable(s->binary);
    bool dwarf = s->dwarf != NULL || s->is_deferred || s->map != NULL;
    *info = (struct wndl_symbolizer_info){
        .has_dwarf = dwarf,
        .has_symtab = s->has_symtab,
        .debug_file = dwarf ? wndl_object_path(s->debug) : "",
        .units_damaged = stats.units_damaged,
        .first_damage =
            s->damage.status != WNDL_OK ? s->damage : stats.first_damage,
        .files_missing = stats.files_missing,
        .first_missing = stats.first_missing,
        .build_id = build_id.data,
        .build_id_size = build_id.size,
        .image_base = relocatable ? 0 : wndl_object_image_base(s->binary).v,
        .address_size = wndl_object_address_size(s->binary),
    };
}

void wndl_symbolizer_get_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    wndl_symbolizer_lock(s);
    if (wndl_symbolizer_is_breakpad(s))
        get_breakpad_info(s, info);
    else if (s->binary != NULL)
        get_binary_info(s, info);
    else
        *info = (struct wndl_symbolizer_info){.debug_file = ""};
    wndl_symbolizer_add_pdb_info(s, info);
    wndl_symbolizer_unlock(s);
}
