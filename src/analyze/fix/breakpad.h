/* SPDX-License-Identifier: MIT */
/*
 * fix_breakpad: where the symbol files of Breakpad are kept:
 *
 *   DIR/NAME/ID/NAME.sym          NAME: of the binary, without folders
 *   DIR/STEM.pdb/ID/STEM.sym      of STEM.dll, STEM.exe and STEM.pdb, before
 *                                 the other
 */
#ifndef WNDL_ANALYZE_FIX_BREAKPAD_H
#define WNDL_ANALYZE_FIX_BREAKPAD_H

#include "base/arena.h"
#include "obj/find/debug_id.h"

/*
 * The path of the symbol file in folder `dir` for the binary at `path`, which
 * need not exist: the one of `id`, or, if that is NULL, the only one. *several
 * is set if there is more than one. In `arena`. NULL when there is none, or
 * memory is out.
 */
const char *wndl_fix_breakpad_path(struct wndl_arena *arena, const char *dir,
    const char *path, const struct wndl_debug_id *id, bool *several);

#endif
