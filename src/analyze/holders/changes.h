/* SPDX-License-Identifier: MIT */
/* changes: what grew by holder between two scans of heaps. */
#ifndef WNDL_ANALYZE_HOLDERS_CHANGES_H
#define WNDL_ANALYZE_HOLDERS_CHANGES_H

#include "model/heap_holders.h"

/*
 * Fills in `changes` with the places and roots that retain more or less in
 * `later`, matched by their texts. Both may be freed before it. Ends with
 * wndl_holder_changes_free, even after a failure. False when memory is out.
 */
bool wndl_holder_changes_fill(struct wndl_holder_changes *changes,
    const struct wndl_heap_holders *earlier,
    const struct wndl_heap_holders *later, struct wndl_mem *mem);
void wndl_holder_changes_free(struct wndl_holder_changes *changes);

#endif
