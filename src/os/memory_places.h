/* SPDX-License-Identifier: MIT */
/*
 * memory_places: whose the resident memory of a process is: which calls mapped
 * it, which files and arenas it is of. Signal-safe, as smaps.h.
 */
#ifndef WNDL_OS_MEMORY_PLACES_H
#define WNDL_OS_MEMORY_PLACES_H

#include "base/bytes.h"
#include "base/memory_kind.h"

#include <stdbool.h>

/* The files of the process, as "/proc/self/smaps". */
struct wndl_memory_files {
    const char *smaps, *pagemap;
};

/*
 * Fills in `sum` and `places`; `room` as for wndl_maps_each(). A mapping of the
 * kernel's that several calls made is divided by its pages. False if a file
 * cannot be read to its end.
 */
bool wndl_memory_places_fill(const struct wndl_memory_files *files,
    struct wndl_bytes room, struct wndl_memory_sum *sum,
    struct wndl_memory_places *places);

#endif
