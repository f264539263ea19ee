/* SPDX-License-Identifier: MIT */
/*
 * search: binary search in sorted data. Nothing here allocates, locks or calls
 * libc: it is part of the signal-safe base.
 */
#ifndef WNDL_BASE_SEARCH_H
#define WNDL_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The number of elements at the front for which `is_in_front` holds. It must
 * hold for none after the first for which it does not. `context` is passed on.
 * The function asks at most log2(count) + 1 times.
 */
__attribute__((always_inline)) static inline size_t wndl_search(size_t count,
    bool (*is_in_front)(const void *context, size_t index), const void *context)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_in_front(context, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * The number of elements whose key is at most `key`. `keys` is the key of the
 * first element, `stride` the distance in bytes from one key to the next; keys
 * ascend. The element that covers `key` is the one before the result.
 */
static inline size_t wndl_search_up_to(
    const uint64_t *keys, size_t stride, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *at = (const char *)keys + middle * stride;
        if (*(const uint64_t *)(const void *)at <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
