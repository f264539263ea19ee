/* SPDX-License-Identifier: MIT */
/*
 * debug_map: the debug information of Mach-O images that was left in the object
 * files that they were linked from. An object file is opened at the first
 * lookup of one of its addresses, and stays open. One that is missing, or was
 * built again since, loses its own functions, and counts as a missing file.
 *
 * Answers are as in dbg/dwarf/dwarf.h, with addresses of the image. One thread
 * at a time.
 */
#ifndef WNDL_SYMBOLIZE_DEBUG_MAP_DEBUG_MAP_H
#define WNDL_SYMBOLIZE_DEBUG_MAP_DEBUG_MAP_H

#include "base/arena.h"
#include "dbg/dwarf/dwarf.h"
#include "obj/core/object.h"

struct wndl_debug_map;

/*
 * Reads the map of `binary`, which is borrowed. Object files that are not at
 * their paths are searched for below `dirs` (ends with NULL; may be NULL:
 * none), by their whole path and by their name. *out is NULL if there is no
 * map; else it ends with wndl_debug_map_close. OK or NOMEM.
 */
enum wndl_status wndl_debug_map_open(const struct wndl_object *binary,
    const char *const *dirs, struct wndl_mem *mem,
    struct wndl_debug_map **out) WNDL_MUST_USE;

/* Closes it. NULL is ignored. */
void wndl_debug_map_close(struct wndl_debug_map *map);

/* The frames of `addr`, as wndl_dwarf_lookup. */
enum wndl_status wndl_debug_map_lookup(struct wndl_debug_map *map,
    wndl_svma addr, struct wndl_dwarf_frames *frames) WNDL_MUST_USE;

/*
 * The number of the object file for `addr`. Consecutive lookups in one object
 * file are cheaper.
 */
uint32_t wndl_debug_map_unit(const struct wndl_debug_map *map, wndl_svma addr);

/* Does what wndl_dwarf_visit_functions() does, for all object files. */
enum wndl_status wndl_debug_map_visit_functions(struct wndl_debug_map *map,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context) WNDL_MUST_USE;

/* Does what wndl_dwarf_changes() does, for all object files. */
enum wndl_status wndl_debug_map_changes(struct wndl_debug_map *map,
    struct wndl_dwarf_range range, struct wndl_vec *places) WNDL_MUST_USE;

/* Statistics over all open object files. */
void wndl_debug_map_get_stats(
    const struct wndl_debug_map *map, struct wndl_dwarf_stats *stats);

#endif
