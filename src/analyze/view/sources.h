/* SPDX-License-Identifier: MIT */
/* view_sources: the source files that a page shows code of. */
#ifndef WNDL_ANALYZE_VIEW_SOURCES_H
#define WNDL_ANALYZE_VIEW_SOURCES_H

#include "model/symbolized.h"
#include "out/view/view.h"

enum { WNDL_VIEW_SOURCES_SIZE = 2 << 20 };

/*
 * The texts, of WNDL_VIEW_SOURCES_SIZE bytes at most, of the files in which
 * most of what was recorded happened, in `sources`, a struct wndl_view_source
 * each, and `arena`. A recording may name any file: those alone are taken that
 * are called as sources are, hold text, and have not been written to since the
 * recording, or since their binary was made. False when memory is out.
 */
bool wndl_view_sources(struct wndl_vec *sources,
    const struct wndl_symbolized *s, struct wndl_arena *arena);

#endif
