/* SPDX-License-Identifier: MIT */
/* source_text: the source files of an annotated function. */
#ifndef WNDL_ANALYZE_ANNOTATE_SOURCE_TEXT_H
#define WNDL_ANALYZE_ANNOTATE_SOURCE_TEXT_H

#include "model/annotated.h"

/*
 * Reads the files that `a` lists, each at the path that debug information has.
 * `maps` are texts FROM=TO, ended by NULL: the first whose FROM is the path, or
 * folders at its start, puts TO in its place. A file that cannot be read, or is
 * no text, gets a problem. False when memory is out.
 */
bool wndl_annotate_read_sources(struct wndl_annotation *of,
    struct wndl_annotated *a, const char *const *maps);

/*
 * The path of a source by such maps: `path` itself if none fits, else a text in
 * `arena`. NULL when memory is out.
 */
const char *wndl_source_map_apply(
    const char *path, const char *const *maps, struct wndl_arena *arena);

/* Whether `map` is FROM=TO. */
bool wndl_source_map_is_valid(const char *map);

#endif
