/* SPDX-License-Identifier: MIT */
/*
 * heap_sift: of many words those that may be addresses in blocks, which are
 * few. It is memory that takes the time, where the processor has AVX2.
 *
 * Any thread; any signal handler.
 */
#ifndef WNDL_RT_HEAP_LEAKS_POINTER_FILTER_H
#define WNDL_RT_HEAP_LEAKS_POINTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are in [low, high), but none of them in [gap, gap_end). */
struct wndl_rt_sieve {
    uintptr_t low, high, gap, gap_end;
    bool has_avx2; /* as wndl_rt_sift_has_avx2() says; false does on any */
};

bool wndl_rt_sift_has_avx2(void);

/*
 * Keeps those of `count` words that may be addresses in blocks, in their order,
 * and tells how many. `found` has room for `count`.
 */
size_t wndl_rt_sift(const struct wndl_rt_sieve *sieve, const uintptr_t *words,
    size_t count, uintptr_t *found);

#endif
