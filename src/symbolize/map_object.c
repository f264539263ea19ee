/* SPDX-License-Identifier: MIT */
/* The object files of a debug map: "x.o", or "lib.a(x.o)". */
#include "base/status.h"
#include "obj/ar.h"
#include "symbolize/debug_map_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static void note_missing(struct wndl_debug_map *map,
    struct wndl_map_object *object, const struct wndl_error *err)
{
    if (object->is_missed)
        return;
    object->is_missed = true;
    map->files_missing++;
    if (map->first_missing.status == WNDL_OK)
        map->first_missing = *err;
}

static const char *source_path(const struct wndl_debug_map *map, uint32_t index)
{
    return (const char *)map->linked.sources[index].path.data;
}

/* ---- finding the file */

struct opening {
    struct wndl_debug_map *map;
    const struct wndl_macho_source *source;
    struct wndl_map_object *object;
    const char *path;         /* as in messages */
    char file_path[PATH_MAX]; /* without the member */
    struct wndl_bytes member; /* empty: the file itself */
};

/* "lib.a(x.o)". False when it is too long. */
static bool split_path(struct opening *o)
{
    struct wndl_bytes path = o->source->path;
    const uint8_t *bracket = memrchr(path.data, '(', path.size);
    size_t size = path.size;
    if (bracket != NULL && bracket != path.data &&
        path.data[path.size - 1] == ')') {
        size = (size_t)(bracket - path.data);
        o->member = (struct wndl_bytes){bracket + 1, path.size - size - 2};
    }
    if (size >= sizeof o->file_path)
        return false;
    memcpy(o->file_path, path.data, size);
    o->file_path[size] = '\0';
    return true;
}

static bool is_absent(const struct wndl_error *err)
{
    return err->sys_errno == ENOENT || err->sys_errno == ENOTDIR;
}

struct place {
    struct wndl_file file;
    struct wndl_file_facts facts;
};

static enum wndl_status open_below(
    const char *dir, const char *path, struct place *place)
{
    char text[PATH_MAX];
    struct wndl_error ignored = {0};
    int size = snprintf(text, sizeof text, "%s/%s", dir, path);
    if (size < 0 || (size_t)size >= sizeof text)
        return WNDL_NOT_FOUND;
    return wndl_file_open_told(text, &place->file, &place->facts, &ignored);
}

/* At its path, beside the binary if that is relative, and below the folders. */
static enum wndl_status open_file(
    const struct opening *o, struct place *place, struct wndl_error *err)
{
    char folder[PATH_MAX];
    const char *path = o->file_path;
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    enum wndl_status status =
        wndl_file_open_told(path, &place->file, &place->facts, err);
    if (status == WNDL_OK || !is_absent(err))
        return status;
    if (path[0] != '/' &&
        wndl_file_real_folder(o->map->binary_path, folder, sizeof folder) &&
        open_below(folder, path, place) == WNDL_OK)
        return WNDL_OK;
    for (const char *const *dir = o->map->dirs; dir != NULL && *dir != NULL;
         dir++)
        if (open_below(*dir, path, place) == WNDL_OK ||
            open_below(*dir, name, place) == WNDL_OK)
            return WNDL_OK;
    return status;
}

static const struct wndl_map_archive *find_archive(const struct opening *o)
{
    const struct wndl_map_archive *a = o->map->archives;
    while (a != NULL && strcmp(a->path, o->file_path) != 0)
        a = a->next;
    return a;
}

static enum wndl_status need_archive(
    struct opening *o, struct wndl_bytes *bytes, struct wndl_error *err)
{
    const struct wndl_map_archive *known = find_archive(o);
    if (known != NULL) {
        *bytes = known->file.bytes;
        return WNDL_OK;
    }
    struct place place = {0};
    enum wndl_status status = open_file(o, &place, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_map_archive *a = wndl_arena_alloc(&o->map->arena, sizeof *a);
    const char *path =
        wndl_arena_copy(&o->map->arena, o->file_path, strlen(o->file_path));
    if (a == NULL || path == NULL) {
        wndl_file_close(&place.file);
        return wndl_fail(err, WNDL_NOMEM, "no memory for an archive");
    }
    *a = (struct wndl_map_archive){path, place.file, o->map->archives};
    o->map->archives = a;
    *bytes = place.file.bytes;
    return WNDL_OK;
}

/* ---- opening it */

/* That it was changed is seen by its time, if the linker wrote that down. */
static enum wndl_status open_plain(
    struct opening *o, struct wndl_bytes *bytes, struct wndl_error *err)
{
    struct place place = {0};
    enum wndl_status status = open_file(o, &place, err);
    if (status != WNDL_OK)
        return status;
    o->object->file = place.file;
    *bytes = place.file.bytes;
    uint64_t wanted = o->source->modified;
    if (wanted != 0 &&
        (uint64_t)(place.facts.modified / INT64_C(1000000000)) != wanted)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "was changed after it was linked: its time is another");
    return WNDL_OK;
}

static enum wndl_status open_object(
    struct opening *o, struct wndl_bytes bytes, struct wndl_error *err)
{
    char arch[WNDL_MACHO_ARCH];
    const struct wndl_object_source from = {
        bytes, o->path, o->map->has_arch ? o->map->arch : NULL};
    if (!wndl_macho_is(bytes))
        return wndl_fail(err, WNDL_UNSUPPORTED, "not a Mach-O object file");
    struct wndl_map_object *object = o->object;
    enum wndl_status status =
        wndl_object_open_source(&from, o->map->mem, &object->object, err);
    if (status != WNDL_OK)
        return status;
    if (!wndl_macho_is_object_file(object->object) ||
        !wndl_macho_arch_of(object->object, arch) ||
        strcmp(arch, o->map->arch) != 0)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "is not an object file for %s any more", o->map->arch);
    return wndl_macho_read_names(object->object, &object->names, err);
}

static void close_object(struct wndl_map_object *object)
{
    wndl_object_close(object->object);
    object->object = NULL;
    object->names = (struct wndl_map){.arena = object->names.arena};
}

/* The first function that was linked from it and is not in it, or NULL. */
static const struct wndl_macho_linked *find_lacking(const struct opening *o)
{
    const struct wndl_debug_map *map = o->map;
    size_t source = (size_t)(o->source - map->linked.sources);
    for (uint32_t i = map->first_of[source]; i < map->first_of[source + 1];
         i++) {
        const struct wndl_macho_linked *piece = wndl_map_linked_of(map, i);
        if (wndl_map_get(&o->object->names,
                wndl_hash_bytes(piece->name.data, piece->name.size)) == NULL)
            return piece;
    }
    return NULL;
}

/* Where the linker wrote no time down. */
static enum wndl_status check_content(
    const struct opening *o, struct wndl_error *err)
{
    const struct wndl_macho_linked *lacking =
        o->source->modified == 0 ? find_lacking(o) : NULL;
    if (lacking == NULL)
        return WNDL_OK;
    return wndl_fail(err, WNDL_NOT_FOUND,
        "was built anew after it was linked: %.100s is not in it",
        (const char *)lacking->name.data);
}

/* Of members that are called the same, one has the functions. */
static enum wndl_status open_member(
    struct opening *o, struct wndl_bytes archive, struct wndl_error *err)
{
    struct wndl_bytes bytes;
    struct wndl_ar_wanted wanted = {o->member, o->source->modified, 0};
    enum wndl_status status = wndl_macho_choose(
        archive, o->map->has_arch ? o->map->arch : NULL, &archive, err);
    if (status == WNDL_OK)
        status = wndl_ar_find(archive, &wanted, &bytes, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_bytes first = bytes;
    struct wndl_error ignored = {0};
    while (open_object(o, bytes, err) == WNDL_OK && find_lacking(o) != NULL) {
        close_object(o->object);
        wanted.nth++;
        if (wndl_ar_find(archive, &wanted, &bytes, &ignored) != WNDL_OK)
            return open_object(o, first, err);
    }
    return o->object->object == NULL ? err->status : WNDL_OK;
}

static enum wndl_status open_dwarf(struct opening *o, struct wndl_error *err)
{
    struct wndl_map_object *object = o->object;
    struct wndl_dwarf_sections sections;
    struct wndl_error damage = {0};
    object->files = wndl_debug_files_new(
        &o->map->arena, object->object, object->object, o->map->dirs);
    if (object->files == NULL ||
        wndl_debug_files_start(object->files, &sections, &damage) != WNDL_OK)
        return wndl_fail(err, WNDL_NOMEM, "no memory for debug information");
    enum wndl_status status =
        wndl_dwarf_open(&sections, o->map->mem, &object->dwarf, err);
    if (status != WNDL_OK)
        object->dwarf = NULL;
    if (status == WNDL_NOT_FOUND)
        *err = damage.status == WNDL_OK ? *err : damage;
    return status;
}

static enum wndl_status open_source(struct opening *o, struct wndl_error *err)
{
    struct wndl_bytes bytes;
    if (!split_path(o))
        return wndl_fail(err, WNDL_LIMIT, "the path is too long");
    enum wndl_status status = o->member.size == 0
                                  ? open_plain(o, &bytes, err)
                                  : need_archive(o, &bytes, err);
    wndl_error_set_file(err, o->path);
    if (status == WNDL_OK)
        status = o->member.size == 0 ? open_object(o, bytes, err)
                                     : open_member(o, bytes, err);
    if (status == WNDL_OK)
        status = check_content(o, err);
    return status;
}

enum wndl_status wndl_map_object_need(
    struct wndl_debug_map *map, uint32_t index)
{
    struct wndl_map_object *object = &map->objects[index];
    if (object->tried)
        return object->dwarf == NULL ? WNDL_NOT_FOUND : WNDL_OK;
    struct opening o = {
        .map = map,
        .source = &map->linked.sources[index],
        .object = object,
        .path = source_path(map, index),
    };
    struct wndl_error err = {0};
    wndl_map_init(&object->names, &map->arena);
    enum wndl_status status = open_source(&o, &err);
    /* One without debug information has none to lose. */
    bool is_plain = status == WNDL_OK &&
                    !wndl_object_has_section(object->object, ".debug_info");
    if (status == WNDL_OK && !is_plain)
        status = open_dwarf(&o, &err);
    if (status == WNDL_NOMEM) {
        wndl_map_object_close(object);
        return status;
    }
    object->tried = true;
    if (status != WNDL_OK)
        note_missing(map, object, &err);
    return status == WNDL_OK && !is_plain ? WNDL_OK : WNDL_NOT_FOUND;
}

void wndl_map_object_close(struct wndl_map_object *object)
{
    if (object->dwarf != NULL)
        wndl_dwarf_close(object->dwarf);
    wndl_debug_files_close(object->files);
    wndl_object_close(object->object);
    wndl_file_close(&object->file);
    *object = (struct wndl_map_object){0};
}
