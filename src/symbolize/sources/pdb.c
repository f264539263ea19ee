/* SPDX-License-Identifier: MIT */
/*
 * PDB files: beside a PE image, or instead of it. For code that they do not
 * know, the image's own symbols and DWARF are asked, if there is an image.
 */
#include "dbg/pdb/pdb.h"
#include "obj/find/debug_id.h"
#include "symbolize/core/symbolizer_impl.h"
#include "symbolize/demangle/msvc.h"
#include "symbolize/sources/sources.h"

#include <string.h>

/* Whether it is of the requested build, if one is requested. */
static enum wndl_status check_id(const struct wndl_pdb *pdb,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    struct wndl_bytes wanted = {options->build_id, options->build_id_size};
    struct wndl_bytes guid = {wndl_pdb_id(pdb)->guid, 16};
    if (options->build_id == NULL || wndl_bytes_equal(wanted, guid))
        return WNDL_OK;
    return wndl_symbolizer_other_build(err);
}

enum wndl_status wndl_symbolizer_begin_pdb(struct wndl_symbolizer *s,
    struct wndl_bytes bytes, const char *path,
    const struct wndl_symbolizer_options *options, struct wndl_error *err)
{
    s->pdb_path =
        path == NULL ? "" : wndl_arena_copy(&s->arena, path, strlen(path));
    if (s->pdb_path == NULL)
        return wndl_symbolizer_no_memory(err);
    bool is_mapped = bytes.data == s->file.bytes.data;
    const struct wndl_pdb_source source = {
        bytes, s->pdb_path, is_mapped ? wndl_pdb_file_give_up : NULL};
    enum wndl_status status = wndl_pdb_open(&source, s->mem, &s->pdb, err);
    if (status == WNDL_OK)
        status = check_id(s->pdb, options, err);
    if (status == WNDL_OK)
        wndl_symbolizer_add_source(s, &wndl_source_pdb);
    return status;
}

enum wndl_status wndl_symbolizer_find_pdb(
    struct wndl_symbolizer *s, const struct wndl_symbolizer_options *options)
{
    struct wndl_error err = {0};
    enum wndl_status status = wndl_pdb_file_find(
        s->binary, options->debug_dirs, s->mem, &s->pdb_file, &err);
    s->pdb = s->pdb_file.pdb;
    s->pdb_path = s->pdb_file.path;
    if (s->pdb != NULL)
        wndl_symbolizer_add_source(s, &wndl_source_pdb);
    if (status == WNDL_NOT_FOUND && err.file[0] != '\0')
        s->pdb_missing = err;
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

/*
 * On i386 names that are not C++ have marks of their calling convention too:
 * _f, _f@8, @f@8.
 */
static struct wndl_bytes undecorated(
    const struct wndl_symbolizer *s, struct wndl_bytes name)
{
    if (wndl_pdb_machine(s->pdb) != WNDL_PDB_X86 || name.size < 2 ||
        (name.data[0] != '_' && name.data[0] != '@'))
        return name;
    return (struct wndl_bytes){name.data + 1, name.size - 1};
}

struct named {
    struct wndl_bytes name;
    struct wndl_bytes linkage_name;
    bool is_thunk;
};

/*
 * The name for people: from its linkage name, which has types, if that can be
 * demangled.
 */
static const char *readable(struct wndl_symbolizer *s, const struct named *from)
{
    struct wndl_bytes linkage_name = from->linkage_name;
    if (linkage_name.size == 0)
        return from->name.size == 0 ? "" : (const char *)from->name.data;
    bool is_mangled = wndl_msvc_is_mangled(linkage_name);
    if (!is_mangled)
        linkage_name = undecorated(s, linkage_name);
    const char *name = wndl_symbolizer_name(s, linkage_name, 0);
    bool is_read =
        name == NULL || strcmp(name, (const char *)linkage_name.data) != 0;
    return is_mangled && !is_read && from->name.size != 0
               ? (const char *)from->name.data
               : name;
}

static bool set_names(struct wndl_symbolizer *s, const struct named *from,
    const char **mangled, const char **function)
{
    bool linked = from->linkage_name.size != 0;
    struct wndl_bytes name = linked ? from->linkage_name : from->name;
    *mangled = name.size == 0 ? "" : (const char *)name.data;
    *function = s->no_demangle ? *mangled : readable(s, from);
    if (from->is_thunk && *function != NULL) {
        bool plain = *function == *mangled;
        *mangled = wndl_symbolizer_mark(s, *mangled, "@ilt");
        *function =
            plain ? *mangled : wndl_symbolizer_mark(s, *function, "@ilt");
    }
    return *mangled != NULL && *function != NULL;
}

static enum wndl_status resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer)
{
    struct wndl_pdb_frames from;
    enum wndl_status status = wndl_pdb_lookup(s->pdb, rva, &from);
    if (status != WNDL_OK)
        return status == WNDL_NOT_FOUND ? WNDL_OK : status;
    struct wndl_symbol_frame *frames =
        wndl_arena_calloc(arena, from.count, sizeof *frames);
    if (frames == NULL)
        return WNDL_NOMEM;
    for (size_t i = 0; i < from.count; i++) {
        const struct wndl_pdb_frame *f = &from.frames[i];
        const struct named named = {f->name, f->linkage_name, f->is_thunk};
        frames[i].file = (const char *)f->file.data;
        frames[i].line = f->line;
        frames[i].column = f->column;
        frames[i].inlined = f->inlined;
        frames[i].function_rva = f->start;
        if (!set_names(s, &named, &frames[i].mangled, &frames[i].function))
            return WNDL_NOMEM;
    }
    *answer = (struct wndl_symbols){frames, from.count};
    return WNDL_OK;
}

static enum wndl_status add_function(
    struct wndl_listing *l, const struct wndl_pdb_function *from)
{
    const struct named named = {from->name, from->linkage_name, from->is_thunk};
    struct wndl_symbol_range *range;
    struct wndl_symbol_function *function = wndl_listing_push(l, 1, &range);
    if (function == NULL ||
        !set_names(l->s, &named, &function->mangled, &function->function))
        return WNDL_NOMEM;
    *range = (struct wndl_symbol_range){from->rva, from->size};
    return WNDL_OK;
}

static enum wndl_status add_private(
    void *context, const struct wndl_pdb_function *from)
{
    struct wndl_listing *l = context;
    enum wndl_status status = add_function(l, from);
    struct wndl_symbol_range *slot =
        status == WNDL_OK ? wndl_vec_push(&l->taken) : NULL;
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = (struct wndl_symbol_range){from->rva, from->size};
    return WNDL_OK;
}

static enum wndl_status add_public(
    void *context, const struct wndl_pdb_function *from)
{
    struct wndl_listing *l = context;
    return wndl_listing_is_taken(l, from->rva) ? WNDL_OK
                                               : add_function(l, from);
}

static enum wndl_status list(struct wndl_listing *l)
{
    return wndl_pdb_visit_functions(l->s->pdb, add_private, l);
}

static enum wndl_status list_publics(struct wndl_listing *l)
{
    return wndl_pdb_visit_publics(l->s->pdb, add_public, l);
}

/* The reader counts from the image base. */
static enum wndl_status changes(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    size_t before = places->len;
    enum wndl_status status =
        wndl_pdb_changes(s->pdb, wndl_symbolizer_rva(s, range.start).v,
            wndl_symbolizer_rva(s, range.end).v, places);
    for (size_t i = before; i < places->len; i++) {
        uint64_t *place = wndl_vec_at(places, i);
        *place = wndl_symbolizer_svma(s, *place).v;
    }
    return status;
}

static uint32_t module_of(const struct wndl_symbolizer *s, uint64_t rva)
{
    return wndl_pdb_module_of(s->pdb, rva);
}

static void add_info(
    const struct wndl_symbolizer *s, struct wndl_symbolizer_info *info)
{
    struct wndl_pdb_stats stats = {0};
    wndl_pdb_get_stats(s->pdb, &stats);
    info->has_symtab = true;
    info->debug_file = s->pdb_path;
    info->units_damaged += stats.damaged;
    if (info->first_damage.status == WNDL_OK)
        info->first_damage = stats.first_damage;
    if (s->binary != NULL)
        return;
    const struct wndl_pdb_id *id = wndl_pdb_id(s->pdb);
    uint16_t machine = wndl_pdb_machine(s->pdb);
    info->build_id = id->guid;
    info->build_id_size = sizeof id->guid;
    info->address_size =
        machine == WNDL_PDB_X86 || machine == WNDL_PDB_ARM ? 4 : 8;
}

const struct wndl_name_source wndl_source_pdb = {
    .begin = wndl_symbolizer_begin_pdb,
    .resolve = resolve,
    .unit_of = module_of,
    .list = list,
    .list_rest = list_publics,
    .changes = changes,
    .add_info = add_info,
};
