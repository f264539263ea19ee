/* SPDX-License-Identifier: MIT */
/*
 * extents: what call frame information says of functions: their starts, so that
 * samples of a binary without symbols can be summed by function, and which have
 * no caller.
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
 * The same, which fails if the binary cannot be read, or memory is out. It need
 * not have rules.
 */
enum wndl_status wndl_extents_try(struct wndl_extents *x, const char *path,
    struct wndl_mem *mem, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Sets *start to the start of the function around `at`; false when it is not
 * known.
 */
bool wndl_extents_find(
    const struct wndl_extents *x, wndl_rva at, wndl_rva *start);

/* The same with the end of the function; also without a search table. */
bool wndl_extents_range(
    const struct wndl_extents *x, wndl_rva at, wndl_rva *start, wndl_rva *end);

/*
 * Whether a frame at `at` is the outermost one: its CFI says that it has no
 * caller, or it has no CFI and is where the program or ld.so starts.
 */
bool wndl_extents_is_outermost(const struct wndl_extents *x, wndl_rva at);

#endif
