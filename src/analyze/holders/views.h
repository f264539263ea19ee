/* SPDX-License-Identifier: MIT */
/* views: a block, or the blocks of a site, and the pointers to and from it. */
#ifndef WNDL_ANALYZE_HOLDERS_VIEWS_H
#define WNDL_ANALYZE_HOLDERS_VIEWS_H

#include "analyze/holders/tables.h"

/* Fills in h->seen with the block that contains `address`. NOT_FOUND, NOMEM. */
enum wndl_status wndl_holder_view_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, uint64_t address,
    struct wndl_error *err);

/*
 * Fills in h->seen_sites with the site of row `number` of h->by_place, the
 * first of which is 1. NOT_FOUND, NOMEM.
 */
enum wndl_status wndl_holder_site_fill(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, uint64_t number,
    struct wndl_error *err);

#endif
