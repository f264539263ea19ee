/* SPDX-License-Identifier: MIT */
/* listing: a list of functions in the making, and their ranges. */
#include "symbolize/core/symbolizer_impl.h"

#include <stdlib.h>

struct wndl_symbol_function *wndl_listing_push(
    struct wndl_listing *l, size_t count, struct wndl_symbol_range **ranges)
{
    struct wndl_symbol_function *function = wndl_vec_push(&l->functions);
    *ranges = function == NULL
                  ? NULL
                  : wndl_arena_calloc(&l->s->arena, count, sizeof **ranges);
    if (*ranges == NULL)
        return NULL;
    function->ranges = *ranges;
    function->range_count = count;
    return function;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_symbol_range *a = left;
    const struct wndl_symbol_range *b = right;
    return (a->rva > b->rva) - (a->rva < b->rva);
}

void wndl_listing_merge(struct wndl_listing *l)
{
    struct wndl_vec *taken = &l->taken;
    struct wndl_symbol_range *ranges = taken->data;
    size_t kept = 0;
    if (taken->len > 1)
        qsort(ranges, taken->len, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < taken->len; i++) {
        struct wndl_symbol_range *last = &ranges[kept - (kept > 0)];
        uint64_t from_last = ranges[i].rva - last->rva;
        if (kept == 0 || from_last > last->size)
            ranges[kept++] = ranges[i];
        else if (from_last + ranges[i].size > last->size)
            last->size = from_last + ranges[i].size;
    }
    taken->len = kept;
}

bool wndl_listing_is_taken(const struct wndl_listing *l, uint64_t rva)
{
    const struct wndl_vec *taken = &l->taken;
    size_t low = 0;
    size_t high = taken->len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct wndl_symbol_range *range = wndl_vec_at(taken, mid);
        if (rva - range->rva < range->size)
            return true;
        if (range->rva < rva)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}
