/* SPDX-License-Identifier: MIT */
/*
 * impl: the parts that the files of the debug map share.
 *
 *   object     an object file
 *   namesakes  members of an archive that have the same name
 *   source     from the map's names, "x.o" or "lib.a(x.o)", to object files
 *   debug_map  addresses
 */
#ifndef WNDL_SYMBOLIZE_DEBUG_MAP_IMPL_H
#define WNDL_SYMBOLIZE_DEBUG_MAP_IMPL_H

#include "base/map.h"
#include "base/vec.h"
#include "obj/macho/macho.h"
#include "obj/packed/ar.h"
#include "os/file.h"
#include "symbolize/debug_map/debug_map.h"
#include "symbolize/files/debug_files.h"

/*
 * An object file. `dwarf` is open, or NULL if there is no debug information.
 * `names` has the addresses of its symbols, by the hash of the name.
 */
struct wndl_debug_map_object {
    struct wndl_object *object;
    struct wndl_debug_files *files;
    struct wndl_dwarf *dwarf;
    struct wndl_map names;
    struct wndl_debug_map_object *next;
};

/*
 * A file that has sources and is opened once: an object file, or an archive of
 * them.
 */
struct wndl_debug_map_file {
    struct wndl_file file;
    struct wndl_file_facts facts;
    const struct wndl_ar *ar; /* after the first lookup of a member */
    /* after the first lookup of the file itself */
    struct wndl_debug_map_object *object;
    struct wndl_error error; /* OK, or why there is neither */
    struct wndl_debug_map_file *next;
};

/* `object` is NULL if it is not usable, or not opened yet. */
struct wndl_debug_map_source {
    struct wndl_debug_map_object *object;
    bool tried;
};

struct wndl_debug_map {
    struct wndl_mem *mem;
    struct wndl_arena arena;
    const char *const *dirs;
    const char *binary_path;
    char arch[WNDL_MACHO_ARCH];
    bool has_arch;
    struct wndl_macho_map linked;
    uint32_t *by_source; /* all of linked.linked, grouped by object */
    uint32_t *first_of;  /* the start of each source's group, and the end */
    struct wndl_debug_map_source *sources; /* for the sources of `linked` */
    struct wndl_debug_map_object *objects; /* all that are open */
    struct wndl_debug_map_file *files;     /* all */
    struct wndl_map by_path;   /* the files, by the hash of the path */
    struct wndl_map namesakes; /* see namesakes.c */
    struct wndl_map by_bytes;  /* open members, by the start of their bytes */
    struct wndl_vec frames;    /* struct wndl_dwarf_frame: the last answer */
    uint32_t files_missing;
    struct wndl_error first_missing;
};

/*
 * Opens the object of a source, once. On success it is usable. NOT_FOUND if it
 * is not; NOMEM.
 */
enum wndl_status wndl_debug_map_object_need(struct wndl_debug_map *map,
    uint32_t source, struct wndl_debug_map_object **object) WNDL_MUST_USE;

/*
 * Opens an object file, without its debug information. `object` has memory for
 * names, and is unchanged after a failure. NOMEM, and the errors of the file.
 */
enum wndl_status wndl_debug_map_object_open(const struct wndl_debug_map *map,
    const struct wndl_object_source *from, struct wndl_debug_map_object *object,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same for a new object of `map`, with its debug information. `path` is for
 * messages.
 */
enum wndl_status wndl_debug_map_object_new(struct wndl_debug_map *map,
    const char *path, struct wndl_bytes bytes,
    struct wndl_debug_map_object **out, struct wndl_error *err) WNDL_MUST_USE;

/* Closes the object file and its debug information. */
void wndl_debug_map_object_close(struct wndl_debug_map_object *object);

/* The piece of linked code at index `at` of map->by_source. */
static inline const struct wndl_macho_linked *wndl_debug_map_linked_of(
    const struct wndl_debug_map *map, uint32_t at)
{
    return &map->linked.linked[map->by_source[at]];
}

/* Closes all objects and files. */
void wndl_debug_map_objects_close(struct wndl_debug_map *map);

/*
 * From several members of one name, the one that has the functions that were
 * linked from `source`; the first if none has them. NULL when memory is out.
 */
const struct wndl_ar_member *wndl_debug_map_namesake_find(
    struct wndl_debug_map *map, const struct wndl_ar_member *first,
    uint32_t source);

#endif
