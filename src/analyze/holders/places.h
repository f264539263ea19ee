/* SPDX-License-Identifier: MIT */
/* places: the place of each node of a heap's graph (model/heap_holders.h). */
#ifndef WNDL_ANALYZE_HOLDERS_PLACES_H
#define WNDL_ANALYZE_HOLDERS_PLACES_H

#include "model/heap.h"
#include "model/heap_holders.h"
#include "model/symbolized.h"

/* The code of a place of blocks. */
struct wndl_heap_code {
    uint32_t frame; /* of the profile; WNDL_NO_INDEX: not known */
    uint32_t line;  /* 0: not known */
};

/* Place ids of the strings of the holders. */
struct wndl_heap_places {
    uint32_t *of_sites;           /* by site of the heap */
    struct wndl_heap_code *codes; /* the same */
    uint32_t *of_roots;           /* by root */
    uint32_t unknown;             /* of a block whose site is not known */
};

/*
 * Fills in `places`, in memory of h->arena; the texts go to h->strings. False
 * when memory is out.
 */
bool wndl_heap_places_fill(struct wndl_heap_places *places,
    struct wndl_heap_holders *h, const struct wndl_symbolized *s,
    const struct wndl_process_heap *heap);

/* The place of a node. */
static inline uint32_t wndl_heap_place_of(const struct wndl_heap_places *places,
    const struct wndl_heap_graph *g, uint32_t node)
{
    if (node >= g->block_count)
        return places->of_roots[node - g->block_count];
    return g->sites[node] == UINT32_MAX ? places->unknown
                                        : places->of_sites[g->sites[node]];
}

#endif
