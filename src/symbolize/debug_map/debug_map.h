/* SPDX-License-Identifier: MIT */
/*
 * debug_map: debug information of Mach-O images that was left in the object
 * files they were linked from. Each is opened when an address of it is first
 * asked for, and stays open. One that is missing, or was built anew since,
 * loses its own functions, and counts as a missing file.
 *
 * What it answers is as in dbg/dwarf/dwarf.h, addresses those of the image.
 * For one
 * thread at a time.
 */
#ifndef WNDL_SYMBOLIZE_DEBUG_MAP_DEBUG_MAP_H
#define WNDL_SYMBOLIZE_DEBUG_MAP_DEBUG_MAP_H

#include "base/arena.h"
#include "dbg/dwarf/dwarf.h"
#include "obj/core/object.h"

struct wndl_debug_map;

/*
 * Reads the map of `binary`, which is borrowed. Object files that are not at
 * their paths are looked for below `dirs` (ends with NULL; NULL: none), by
 * their whole path and by their name. *out is NULL if there is no map; else it
 * is for wndl_debug_map_close. OK or NOMEM.
 */
enum wndl_status wndl_debug_map_open(const struct wndl_object *binary,
    const char *const *dirs, struct wndl_mem *mem,
    struct wndl_debug_map **out) WNDL_MUST_USE;

/* NULL is left alone. */
void wndl_debug_map_close(struct wndl_debug_map *map);

enum wndl_status wndl_debug_map_lookup(struct wndl_debug_map *map,
    wndl_svma addr, struct wndl_dwarf_frames *frames) WNDL_MUST_USE;

/* Lookups cost less one after the other for addresses of one object file. */
uint32_t wndl_debug_map_unit(const struct wndl_debug_map *map, wndl_svma addr);

enum wndl_status wndl_debug_map_visit_functions(struct wndl_debug_map *map,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context) WNDL_MUST_USE;

enum wndl_status wndl_debug_map_changes(struct wndl_debug_map *map,
    struct wndl_dwarf_range range, struct wndl_vec *places) WNDL_MUST_USE;

/* Of all object files that are open. */
void wndl_debug_map_get_stats(
    const struct wndl_debug_map *map, struct wndl_dwarf_stats *stats);

#endif
