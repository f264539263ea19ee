/* SPDX-License-Identifier: MIT */
/* contents: the blocks of scans whose contents were kept, for other tools. */
#ifndef WNDL_ANALYZE_HOLDERS_CONTENTS_H
#define WNDL_ANALYZE_HOLDERS_CONTENTS_H

#include "analyze/heap/blocks.h"
#include "model/heap_contents.h"

/*
 * Appends to `c` the blocks of the heaps that `choice` chooses and whose
 * contents were kept; their stacks go to `list`. All are of `s`, which outlives
 * both, as does the file that was read. Ends with wndl_heap_contents_free, even
 * after a failure. Without such heaps there is no block. MALFORMED: a scan or
 * its contents are damaged; NOMEM.
 */
enum wndl_status wndl_heap_contents_fill(struct wndl_heap_contents *c,
    struct wndl_heap_list *list, const struct wndl_symbolized *s,
    const struct wndl_heap_choice *choice, struct wndl_error *err);
void wndl_heap_contents_free(struct wndl_heap_contents *c);

#endif
