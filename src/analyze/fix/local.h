/* SPDX-License-Identifier: MIT */
/* fix_local: the file of a binary in the folder of -l, by its name. */
#ifndef WNDL_ANALYZE_FIX_LOCAL_H
#define WNDL_ANALYZE_FIX_LOCAL_H

#include "base/arena.h"

#include <stdbool.h>

/*
 * Sets *found to the file in `dir` with the name of `path`, which lives as long
 * as the arena, or to NULL. "base.apk!libx.so" has the name "libx.so". A
 * module of the kernel, "x_y.ko", may be packed, a debug file, and "x-y.ko".
 * False when memory is out.
 */
bool wndl_fix_local_file(struct wndl_arena *arena, const char *dir,
    const char *path, const char **found);

#endif
