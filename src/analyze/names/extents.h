/* SPDX-License-Identifier: MIT */
/*
 * extents: the starts of functions in a binary without symbols, from its call
 * frame information, so that its samples can be summed by function.
 */
#ifndef WNDL_ANALYZE_NAMES_EXTENTS_H
#define WNDL_ANALYZE_NAMES_EXTENTS_H

#include "base/addr.h"
#include "cfi/cfi.h"
#include "obj/core/object.h"
#include "os/file.h"

struct wndl_extents {
    struct wndl_file file;
    struct wndl_object *object; /* NULL: lookups find nothing */
    struct wndl_cfi_section header, frame;
};

/*
 * Opens the binary at `path`. If it cannot be read, or has no search table,
 * lookups find nothing. Ends with wndl_extents_close.
 */
void wndl_extents_open(
    struct wndl_extents *x, const char *path, struct wndl_mem *mem);
void wndl_extents_close(struct wndl_extents *x);

/*
 * Sets *start to the start of the function around `at`; false when it is not
 * known.
 */
bool wndl_extents_find(
    const struct wndl_extents *x, wndl_rva at, wndl_rva *start);

#endif
