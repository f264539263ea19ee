/* SPDX-License-Identifier: MIT */
/*
 * debug_map_impl: what debug_map.c (addresses) and map_object.c (the object
 * files) share.
 */
#ifndef WNDL_SYMBOLIZE_DEBUG_MAP_IMPL_H
#define WNDL_SYMBOLIZE_DEBUG_MAP_IMPL_H

#include "base/map.h"
#include "base/vec.h"
#include "obj/macho.h"
#include "os/file.h"
#include "symbolize/debug_files.h"
#include "symbolize/debug_map.h"

/* An archive, which is opened once. */
struct wndl_map_archive {
    const char *path;
    struct wndl_file file;
    struct wndl_map_archive *next;
};

/* An object file. `dwarf` is open or NULL; `names` are where its symbols are,
 * by the hash of the name. */
struct wndl_map_object {
    struct wndl_file file; /* not of an archive's member */
    struct wndl_object *object;
    struct wndl_debug_files *files;
    struct wndl_dwarf *dwarf;
    struct wndl_map names;
    bool tried;
    bool is_missed; /* that it is of no use was told */
};

struct wndl_debug_map {
    struct wndl_mem *mem;
    struct wndl_arena arena;
    const char *const *dirs;
    const char *binary_path;
    char arch[WNDL_MACHO_ARCH];
    bool has_arch;
    struct wndl_macho_map linked;
    uint32_t *by_source; /* all of linked.linked, one object's after another */
    uint32_t *first_of;  /* where a source's begin there, and the end */
    struct wndl_map_object *objects; /* one for each source of `linked` */
    struct wndl_map_archive *archives;
    struct wndl_vec frames; /* struct wndl_dwarf_frame: the last answer */
    uint32_t files_missing;
    struct wndl_error first_missing;
};

/* Opens the object of that index, once. NOT_FOUND if it is of no use, NOMEM. */
enum wndl_status wndl_map_object_need(
    struct wndl_debug_map *map, uint32_t index) WNDL_MUST_USE;

static inline const struct wndl_macho_linked *wndl_map_linked_of(
    const struct wndl_debug_map *map, uint32_t at)
{
    return &map->linked.linked[map->by_source[at]];
}

void wndl_map_object_close(struct wndl_map_object *object);

#endif
