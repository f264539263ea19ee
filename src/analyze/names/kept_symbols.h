/* SPDX-License-Identifier: MIT */
/*
 * kept_symbols: symbolizers that stay open from one profile to the next, for
 * commands that repeat. One thread.
 */
#ifndef WNDL_ANALYZE_NAMES_KEPT_SYMBOLS_H
#define WNDL_ANALYZE_NAMES_KEPT_SYMBOLS_H

#include "base/bytes.h"
#include "base/vec.h"

#include <windlass/symbolize.h>

struct wndl_kept_symbols {
    struct wndl_arena arena;
    struct wndl_vec all; /* private */
};

/* Makes an empty one, which must not move. */
void wndl_kept_symbols_init(struct wndl_kept_symbols *kept);

/* Closes all of them. */
void wndl_kept_symbols_close(struct wndl_kept_symbols *kept);

/* The symbolizer of that path and build-id (empty: none); NULL: not kept. */
struct wndl_symbolizer *wndl_kept_symbols_find(
    const struct wndl_kept_symbols *kept, const char *path,
    struct wndl_bytes build_id);

/*
 * Takes over an open symbolizer, whose heap must live as long. False without
 * memory: it is still the caller's.
 */
bool wndl_kept_symbols_add(struct wndl_kept_symbols *kept, const char *path,
    struct wndl_bytes build_id, struct wndl_symbolizer *symbols);

#endif
