/* SPDX-License-Identifier: MIT */
/* view_held: who holds the blocks of the scanned heaps of a recording. */
#ifndef WNDL_ANALYZE_VIEW_HELD_H
#define WNDL_ANALYZE_VIEW_HELD_H

#include "model/symbolized.h"
#include "out/view/view.h"

/*
 * Adds the holders of each heap whose scan is whole to `held` (struct
 * wndl_view_held), in memory of `arena`. Ends with wndl_view_held_free, even
 * after a failure and before its arena. A scan that is damaged is left out.
 * False when memory is out.
 */
bool wndl_view_held(struct wndl_vec *held, const struct wndl_symbolized *s,
    struct wndl_arena *arena);
void wndl_view_held_free(struct wndl_vec *held);

#endif
