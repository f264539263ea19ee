/* SPDX-License-Identifier: MIT */
/*
 * pointer_filter: of many words those that may be addresses in blocks, which
 * are few. Memory takes the time, where the processor has AVX2.
 *
 * Any thread; any signal handler.
 */
#ifndef WNDL_RT_HEAP_LEAKS_POINTER_FILTER_H
#define WNDL_RT_HEAP_LEAKS_POINTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are in [low, high), but none of them in [gap, gap_end). */
struct wndl_rt_pointer_filter {
    uintptr_t low, high, gap, gap_end;
    bool has_avx2; /* as below says; false works on any processor */
};

bool wndl_rt_pointer_filter_has_avx2(void);

/*
 * Keeps those of `count` words that may be addresses in blocks, in their order,
 * and tells how many. `found` has room for `count`.
 */
size_t wndl_rt_pointer_filter_keep(const struct wndl_rt_pointer_filter *filter,
    const uintptr_t *words, size_t count, uintptr_t *found);

#endif
