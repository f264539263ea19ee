/* SPDX-License-Identifier: MIT */
/* holders: who holds the blocks of a scanned heap. */
#ifndef WNDL_ANALYZE_HOLDERS_HOLDERS_H
#define WNDL_ANALYZE_HOLDERS_HOLDERS_H

#include "analyze/holders/graph.h"
#include "analyze/holders/members.h"
#include "base/status.h"
#include "model/heap.h"
#include "model/heap_holders.h"
#include "model/symbolized.h"

struct wndl_holders_wanted {
    const char
        *place;     /* steps are of blocks whose place contains it; or NULL */
    uint64_t block; /* an address in the block that is viewed; 0: none */
    uint64_t site;  /* the row of by_place that is viewed, from 1; 0: none */
    const struct wndl_heap_variables *variables; /* or NULL */
    struct wndl_heap_members *members;           /* of this heap; or NULL */
    bool trees; /* of all blocks: `retained` and `chains` are filled in */
};

/*
 * Fills in `h` from a heap of s->profile. All of them must outlive it; `h` must
 * not move. Its memory is that of `s`. Ends with wndl_heap_holders_free, even
 * after a failure. NOT_FOUND: the heap was not scanned, no block is at
 * wanted->block, or wanted->site is too large; MALFORMED; NOMEM.
 */
enum wndl_status wndl_heap_holders_fill(struct wndl_heap_holders *h,
    const struct wndl_symbolized *s, const struct wndl_process_heap *heap,
    const struct wndl_holders_wanted *wanted, struct wndl_error *err);
void wndl_heap_holders_free(struct wndl_heap_holders *h);

#endif
