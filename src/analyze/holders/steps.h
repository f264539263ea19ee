/* SPDX-License-Identifier: MIT */
/* steps: merges the chains from blocks to their roots, by places. */
#ifndef WNDL_ANALYZE_HOLDERS_STEPS_H
#define WNDL_ANALYZE_HOLDERS_STEPS_H

#include "analyze/holders/tables.h"

enum { WNDL_HOLDER_STEPS = 64 };

/*
 * Fills in h->steps with the chains of all blocks whose place contains `place`.
 * Deeper chains than WNDL_HOLDER_STEPS places are cut: the places nearest to
 * the root stay. The time is linear in the graph. False when memory is out.
 */
bool wndl_holder_steps_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, const char *place);

#endif
