/* SPDX-License-Identifier: MIT */
/* The object files of a debug map: "x.o", or "lib.a(x.o)". */
#include "base/status.h"
#include "obj/packed/ar.h"
#include "symbolize/debug_map/impl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *source_path(
    const struct wndl_debug_map *map, uint32_t source)
{
    return (const char *)map->linked.sources[source].path.data;
}

/* ---- finding the file */

struct opening {
    struct wndl_debug_map *map;
    uint32_t index;
    const struct wndl_macho_source *source;
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

static enum wndl_status open_below(
    const char *dir, const char *path, struct wndl_debug_map_file *file)
{
    char text[PATH_MAX];
    struct wndl_error ignored = {0};
    int size = snprintf(text, sizeof text, "%s/%s", dir, path);
    if (size < 0 || (size_t)size >= sizeof text)
        return WNDL_NOT_FOUND;
    return wndl_file_open_facts(text, &file->file, &file->facts, &ignored);
}

/*
 * Searches at its path, beside the binary if that is relative, and below the
 * folders.
 */
static enum wndl_status open_file(const struct opening *o,
    struct wndl_debug_map_file *file, struct wndl_error *err)
{
    char folder[PATH_MAX];
    const char *path = o->file_path;
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    enum wndl_status status =
        wndl_file_open_facts(path, &file->file, &file->facts, err);
    if (status == WNDL_OK || !is_absent(err))
        return status;
    if (path[0] != '/' &&
        wndl_file_real_folder(o->map->binary_path, folder, sizeof folder) &&
        open_below(folder, path, file) == WNDL_OK)
        return WNDL_OK;
    for (const char *const *dir = o->map->dirs; dir != NULL && *dir != NULL;
         dir++)
        if (open_below(*dir, path, file) == WNDL_OK ||
            open_below(*dir, name, file) == WNDL_OK)
            return WNDL_OK;
    return status;
}

/* NULL when memory is out; the file's failure is in its error. */
static struct wndl_debug_map_file *need_file(const struct opening *o)
{
    struct wndl_debug_map *map = o->map;
    uint64_t *known = wndl_map_put(
        &map->by_path, wndl_hash_bytes(o->file_path, strlen(o->file_path)));
    if (known == NULL || *known != 0)
        return known == NULL ? NULL
                             : (struct wndl_debug_map_file *)(uintptr_t)*known;
    struct wndl_debug_map_file *file =
        wndl_arena_calloc(&map->arena, 1, sizeof *file);
    if (file == NULL)
        return NULL;
    *known = (uintptr_t)file;
    file->next = map->files;
    map->files = file;
    struct wndl_error err = {0};
    if (open_file(o, file, &err) != WNDL_OK)
        file->error = err;
    return file;
}

/* ---- opening it */

/* A changed file has another time, if the linker wrote the time down. */
static enum wndl_status open_plain(const struct opening *o,
    struct wndl_debug_map_file *file, struct wndl_debug_map_object **object,
    struct wndl_error *err)
{
    uint64_t wanted = o->source->modified;
    if (wanted != 0 &&
        (uint64_t)(file->facts.modified / INT64_C(1000000000)) != wanted)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "was changed after it was linked: its time differs");
    enum wndl_status status = WNDL_OK;
    if (file->object == NULL)
        status = wndl_debug_map_object_new(
            o->map, o->path, file->file.bytes, &file->object, err);
    if (status != WNDL_OK && status != WNDL_NOMEM)
        file->error = *err;
    *object = file->object;
    return status;
}

static enum wndl_status need_archive(const struct opening *o,
    struct wndl_debug_map_file *file, struct wndl_error *err)
{
    struct wndl_bytes archive;
    if (file->ar != NULL)
        return WNDL_OK;
    enum wndl_status status = wndl_macho_choose(file->file.bytes,
        o->map->has_arch ? o->map->arch : NULL, &archive, err);
    if (status == WNDL_OK)
        status = wndl_ar_open(archive, &o->map->arena, &file->ar, err);
    if (status != WNDL_OK && status != WNDL_NOMEM)
        file->error = *err;
    return status;
}

/* Any number of sources may name one member: they share the opened one. */
static enum wndl_status share_member(const struct opening *o,
    struct wndl_bytes bytes, struct wndl_debug_map_object **object,
    struct wndl_error *err)
{
    const uint64_t key = wndl_hash_u64((uintptr_t)bytes.data);
    const uint64_t *known = wndl_map_get(&o->map->by_bytes, key);
    if (known != NULL) {
        *object = (struct wndl_debug_map_object *)(uintptr_t)*known;
        return WNDL_OK;
    }
    const enum wndl_status status =
        wndl_debug_map_object_new(o->map, o->path, bytes, object, err);
    if (status != WNDL_OK)
        return status;
    uint64_t *slot = wndl_map_put(&o->map->by_bytes, key);
    if (slot == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for an object file");
    *slot = (uintptr_t)*object;
    return WNDL_OK;
}

static enum wndl_status open_member(const struct opening *o,
    struct wndl_debug_map_file *file, struct wndl_debug_map_object **object,
    struct wndl_error *err)
{
    const struct wndl_ar_member *member;
    enum wndl_status status = need_archive(o, file, err);
    if (status == WNDL_OK)
        status = wndl_ar_find(
            file->ar, o->member, o->source->modified, &member, err);
    if (status != WNDL_OK)
        return status;
    if (member->next != NULL)
        member = wndl_debug_map_namesake_find(o->map, member, o->index);
    if (member == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for an archive");
    return share_member(o, member->bytes, object, err);
}

/*
 * The first function that was linked from the source and is missing in it, or
 * NULL.
 */
static const struct wndl_macho_linked *find_lacking(
    const struct opening *o, const struct wndl_debug_map_object *object)
{
    const struct wndl_debug_map *map = o->map;
    for (uint32_t i = map->first_of[o->index]; i < map->first_of[o->index + 1];
         i++) {
        const struct wndl_macho_linked *piece =
            wndl_debug_map_linked_of(map, i);
        if (wndl_map_get(&object->names,
                wndl_hash_bytes(piece->name.data, piece->name.size)) == NULL)
            return piece;
    }
    return NULL;
}

/* Checks the contents, where the linker wrote no time down. */
static enum wndl_status check_content(const struct opening *o,
    const struct wndl_debug_map_object *object, struct wndl_error *err)
{
    const struct wndl_macho_linked *lacking =
        o->source->modified == 0 ? find_lacking(o, object) : NULL;
    if (lacking == NULL)
        return WNDL_OK;
    return wndl_fail(err, WNDL_NOT_FOUND,
        "was built again after it was linked: %.100s is not in it",
        (const char *)lacking->name.data);
}

static enum wndl_status open_source(struct opening *o,
    struct wndl_debug_map_object **object, struct wndl_error *err)
{
    wndl_error_set_file(err, o->path);
    if (!split_path(o))
        return wndl_fail(err, WNDL_LIMIT, "the path is too long");
    struct wndl_debug_map_file *file = need_file(o);
    if (file == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for a file");
    if (file->error.status != WNDL_OK) {
        *err = file->error;
        wndl_error_set_file(err, o->path);
        return err->status;
    }
    enum wndl_status status = o->member.size == 0
                                  ? open_plain(o, file, object, err)
                                  : open_member(o, file, object, err);
    return status == WNDL_OK ? check_content(o, *object, err) : status;
}

static void note_missing(
    struct wndl_debug_map *map, const struct wndl_error *err)
{
    map->files_missing++;
    if (map->first_missing.status == WNDL_OK)
        map->first_missing = *err;
}

/*
 * An object without debug information is no loss: it is not counted as missing.
 */
enum wndl_status wndl_debug_map_object_need(struct wndl_debug_map *map,
    uint32_t source, struct wndl_debug_map_object **object)
{
    struct wndl_debug_map_source *known = &map->sources[source];
    if (!known->tried) {
        struct opening o = {
            .map = map,
            .index = source,
            .source = &map->linked.sources[source],
            .path = source_path(map, source),
        };
        struct wndl_error err = {0};
        struct wndl_debug_map_object *found = NULL;
        enum wndl_status status = open_source(&o, &found, &err);
        if (status == WNDL_NOMEM)
            return status;
        known->tried = true;
        if (status != WNDL_OK)
            note_missing(map, &err);
        else if (found->dwarf != NULL)
            known->object = found;
    }
    *object = known->object;
    return known->object == NULL ? WNDL_NOT_FOUND : WNDL_OK;
}

void wndl_debug_map_objects_close(struct wndl_debug_map *map)
{
    for (struct wndl_debug_map_object *o = map->objects; o != NULL; o = o->next)
        wndl_debug_map_object_close(o);
    for (struct wndl_debug_map_file *f = map->files; f != NULL; f = f->next)
        wndl_file_close(&f->file);
}
