/* SPDX-License-Identifier: MIT */
/*
 * pointer_filter: selects the words that may be addresses in blocks, which are
 * few of many. With AVX2 the speed of memory is the limit.
 *
 * Any thread; any signal handler.
 */
#ifndef WNDL_RT_HEAP_LEAKS_POINTER_FILTER_H
#define WNDL_RT_HEAP_LEAKS_POINTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are in [low, high), but none of them is in [gap, gap_end). */
struct wndl_rt_pointer_filter {
    uintptr_t low, high, gap, gap_end;
    uintptr_t tags; /* bits of words that are no part of an address; they are
                     * cleared in what is found */
    bool has_avx2;  /* result of the function below; false works on any
                    * processor */
};

bool wndl_rt_pointer_filter_has_avx2(void);

/*
 * Copies those of `count` words that may be addresses in blocks to `found`, in
 * their order, and returns their number. `found` has room for `count`.
 */
size_t wndl_rt_pointer_filter_keep(const struct wndl_rt_pointer_filter *filter,
    const uintptr_t *words, size_t count, uintptr_t *found);

#endif
