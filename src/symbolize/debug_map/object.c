/* SPDX-License-Identifier: MIT */
/* An object file of a debug map: its symbols and its debug information. */
#include "base/status.h"
#include "symbolize/debug_map/impl.h"

#include <string.h>

enum wndl_status wndl_debug_map_object_open(const struct wndl_debug_map *map,
    const struct wndl_object_source *from, struct wndl_debug_map_object *object,
    struct wndl_error *err)
{
    char arch[WNDL_MACHO_ARCH];
    if (!wndl_macho_is(from->bytes))
        return wndl_fail(err, WNDL_UNSUPPORTED, "not a Mach-O object file");
    enum wndl_status status =
        wndl_object_open_source(from, map->mem, &object->object, err);
    if (status != WNDL_OK)
        return status;
    if (!wndl_macho_is_object_file(object->object) ||
        !wndl_macho_arch_of(object->object, arch) ||
        strcmp(arch, map->arch) != 0)
        status = wndl_fail(err, WNDL_NOT_FOUND,
            "not an object file for %s any more", map->arch);
    else
        status = wndl_macho_read_names(object->object, &object->names, err);
    if (status == WNDL_OK)
        return status;
    wndl_object_close(object->object);
    object->object = NULL;
    return status;
}

static enum wndl_status open_dwarf(struct wndl_debug_map *map,
    struct wndl_debug_map_object *object, struct wndl_error *err)
{
    struct wndl_dwarf_sections sections;
    struct wndl_error damage = {0};
    if (!wndl_object_has_section(object->object, ".debug_info"))
        return WNDL_OK;
    object->files = wndl_debug_files_new(
        &map->arena, object->object, object->object, map->dirs);
    if (object->files == NULL ||
        wndl_debug_files_start(object->files, &sections, &damage) != WNDL_OK)
        return wndl_fail(err, WNDL_NOMEM, "no memory for debug information");
    enum wndl_status status =
        wndl_dwarf_open(&sections, map->mem, &object->dwarf, err);
    if (status != WNDL_OK)
        object->dwarf = NULL;
    if (status == WNDL_NOT_FOUND)
        *err = damage.status == WNDL_OK ? *err : damage;
    return status;
}

void wndl_debug_map_object_close(struct wndl_debug_map_object *object)
{
    if (object->dwarf != NULL)
        wndl_dwarf_close(object->dwarf);
    wndl_debug_files_close(object->files);
    wndl_object_close(object->object);
}

enum wndl_status wndl_debug_map_object_new(struct wndl_debug_map *map,
    const char *path, struct wndl_bytes bytes,
    struct wndl_debug_map_object **out, struct wndl_error *err)
{
    const struct wndl_object_source from = {
        bytes, path, map->has_arch ? map->arch : NULL};
    struct wndl_debug_map_object *object =
        wndl_arena_calloc(&map->arena, 1, sizeof *object);
    if (object == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for an object file");
    wndl_map_init(&object->names, &map->arena);
    enum wndl_status status =
        wndl_debug_map_object_open(map, &from, object, err);
    if (status == WNDL_OK)
        status = open_dwarf(map, object, err);
    if (status != WNDL_OK) {
        wndl_debug_map_object_close(object);
        return status;
    }
    object->next = map->objects;
    map->objects = object;
    *out = object;
    return WNDL_OK;
}
