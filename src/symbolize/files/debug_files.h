/* SPDX-License-Identifier: MIT */
/*
 * debug_files: gives the DWARF reader the sections that it asks for: of its
 * first file, and of the files to which that one refers.
 */
#ifndef WNDL_SYMBOLIZE_FILES_DEBUG_FILES_H
#define WNDL_SYMBOLIZE_FILES_DEBUG_FILES_H

#include "base/arena.h"
#include "dbg/dwarf/dwarf.h"
#include "obj/find/splitfile.h"

struct wndl_debug_files;

/*
 * A copy of a list that ends with NULL, and of its strings, in `arena`. NULL
 * when memory is out.
 */
const char *const *wndl_debug_dirs_copy(
    struct wndl_arena *arena, const char *const *dirs);

/*
 * Makes a finder for the files to which `debug`, the binary itself or its debug
 * file, refers. `dirs` (ends with NULL; may be NULL: the usual one) is copied,
 * the objects are borrowed. It lives in `arena`. wndl_debug_files_close must
 * come before the end of the arena, and after the DWARF reader that uses it is
 * closed. NULL when memory is out.
 */
struct wndl_debug_files *wndl_debug_files_new(struct wndl_arena *arena,
    struct wndl_object *binary, struct wndl_object *debug,
    const char *const *dirs);

/* Unmaps the opened files. NULL is ignored. */
void wndl_debug_files_close(struct wndl_debug_files *files);

/*
 * Fills `sections` of the first file. A section that exists but cannot be read
 * is left out; the first such failure is in *damage, whose status is otherwise
 * WNDL_OK. NOMEM.
 */
enum wndl_status wndl_debug_files_start(struct wndl_debug_files *files,
    struct wndl_dwarf_sections *sections,
    struct wndl_error *damage) WNDL_MUST_USE;

#endif
