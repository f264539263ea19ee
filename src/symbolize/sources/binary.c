/* SPDX-License-Identifier: MIT */
/*
 * A binary, as a source of names: it joins a binary, its debug file, their
 * symbol tables and DWARF.
 */
#include "symbolize/sources/binary.h"
#include "symbolize/files/debuginfod.h"
#include "symbolize/sources/sources.h"

#include <limits.h>

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

/* Damage loses DWARF, and is noted. */
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

/* OK or NOMEM. */
static enum wndl_status begin_without_dwarf(
    struct wndl_symbolizer *s, const char *const *dirs)
{
    struct wndl_error damage = {0};
    enum wndl_status status =
        wndl_debug_map_open(s->binary, dirs, s->mem, &s->map);
    if (status != WNDL_OK || s->map != NULL)
        return status;
    status = wndl_go_table_open(s->binary, s->mem, &s->go, &damage);
    if (damage.status != WNDL_OK)
        wndl_symbolizer_note_damage(s, &damage);
    return status;
}

static enum wndl_status begin_dwarf(
    struct wndl_symbolizer *s, const char *const *dirs, struct wndl_error *err)
{
    if (!has_dwarf(s->debug))
        return begin_without_dwarf(s, dirs) == WNDL_OK
                   ? WNDL_OK
                   : wndl_symbolizer_no_memory(err);
    s->files = wndl_debug_files_new(&s->arena, s->binary, s->debug, dirs);
    s->is_deferred = true;
    return s->files == NULL ? wndl_symbolizer_no_memory(err) : WNDL_OK;
}

/*
 * A debug file has the full symbol table; else the binary's is used, even if
 * that is only .dynsym.
 */
static void choose_symbols(struct wndl_symbolizer *s)
{
    struct wndl_object *separate = s->debugfile.object;
    bool in_separate = separate != NULL && wndl_object_has_symtab(separate);
    s->symbols = in_separate ? separate : s->binary;
    s->has_symtab = in_separate || wndl_object_has_symtab(s->binary);
}

/* Fetches it from a server. NOT_FOUND when that fails, for whatever reason. */
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

static enum wndl_status begin(struct wndl_symbolizer *s,
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
    if (status == WNDL_OK)
        status = begin_dwarf(s, options->debug_dirs, err);
    if (status != WNDL_OK)
        return status;
    choose_symbols(s);
    wndl_symbolizer_add_source(s, &wndl_source_binary);
    return WNDL_OK;
}

static void add_info(
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
    const struct wndl_error *in_go =
        s->go == NULL ? NULL : wndl_go_table_damage(s->go);
    *info = (struct wndl_symbolizer_info){
        .has_dwarf = dwarf || s->go != NULL,
        .has_symtab = s->has_symtab,
        .debug_file = dwarf ? wndl_object_path(s->debug) : "",
        .units_damaged = stats.units_damaged,
        .first_damage = s->damage.status != WNDL_OK ? s->damage
                        : in_go != NULL             ? *in_go
                                                    : stats.first_damage,
        .files_missing = stats.files_missing,
        .first_missing = stats.first_missing,
        .build_id = build_id.data,
        .build_id_size = build_id.size,
        .image_base = relocatable ? 0 : wndl_object_image_base(s->binary).v,
        .address_size = wndl_object_address_size(s->binary),
    };
}

/* The DWARF unit of an address; the same number for all without DWARF. */
static uint32_t unit_of(const struct wndl_symbolizer *s, uint64_t rva)
{
    wndl_svma addr = wndl_symbolizer_svma(s, rva);
    if (s->map != NULL)
        return wndl_debug_map_unit(s->map, addr);
    return s->dwarf == NULL ? 0 : wndl_dwarf_likely_unit(s->dwarf, addr);
}

const struct wndl_name_source wndl_source_binary = {
    .begin = begin,
    .open = open_dwarf,
    .resolve = wndl_binary_resolve,
    .unit_of = unit_of,
    .list = wndl_binary_list,
    .list_rest = wndl_binary_list_symbols,
    .changes = wndl_binary_changes,
    .add_info = add_info,
};
