/* SPDX-License-Identifier: MIT */
/* view_sources: the source files whose code a page shows. */
#ifndef WNDL_ANALYZE_VIEW_SOURCES_H
#define WNDL_ANALYZE_VIEW_SOURCES_H

#include "model/symbolized.h"
#include "out/view/view.h"

enum { WNDL_VIEW_SOURCES_SIZE = 2 << 20 };

/*
 * Adds the texts of the files with the most cost, WNDL_VIEW_SOURCES_SIZE bytes
 * at most, to `sources` (struct wndl_view_source), in `arena`. A recording may
 * name any file. So a file is read only if its name is that of a source, if it
 * is text, and if it has not been written since the recording, or since its
 * binary was made. `maps` are texts FROM=TO, ended by NULL
 * (annotate/source_text.h): a file that one of them names may be newer, since
 * the user vouches for it. False when memory is out.
 */
bool wndl_view_sources(struct wndl_vec *sources,
    const struct wndl_symbolized *s, const char *const *maps,
    struct wndl_arena *arena);

#endif
