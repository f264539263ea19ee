/* SPDX-License-Identifier: MIT */
/*
 * debug_files: gives the DWARF reader the sections it asks for, of the file
 * it begins with and of those that one refers to.
 */
#ifndef WNDL_SYMBOLIZE_FILES_DEBUG_FILES_H
#define WNDL_SYMBOLIZE_FILES_DEBUG_FILES_H

#include "base/arena.h"
#include "dbg/dwarf/dwarf.h"
#include "obj/find/splitfile.h"

struct wndl_debug_files;

/* A copy of a list that ends with NULL, and of its strings. NULL when memory
 * is out. */
const char *const *wndl_debug_dirs_copy(
    struct wndl_arena *arena, const char *const *dirs);

/*
 * What finds the files that `debug`, the binary itself or its debug file,
 * refers to. `dirs` (NULL-terminated; NULL: the usual one) is copied, the
 * objects are borrowed. It lives in `arena`; wndl_debug_files_close comes
 * before that is freed, and after the DWARF reader that uses it is closed.
 * NULL when memory is out.
 */
struct wndl_debug_files *wndl_debug_files_new(struct wndl_arena *arena,
    struct wndl_object *binary, struct wndl_object *debug,
    const char *const *dirs);

/* Unmaps what was opened. NULL is left alone. */
void wndl_debug_files_close(struct wndl_debug_files *files);

/*
 * Fills `sections` of the file that it begins with. A section that is there
 * but cannot be read is left out, and the first such told in *damage, whose
 * status is WNDL_OK otherwise. NOMEM.
 */
enum wndl_status wndl_debug_files_start(struct wndl_debug_files *files,
    struct wndl_dwarf_sections *sections,
    struct wndl_error *damage) WNDL_MUST_USE;

#endif
