/* SPDX-License-Identifier: MIT */
/* allocator: the program's allocator, and the sizes of its blocks. */
#ifndef WNDL_RT_HEAP_RECORD_ALLOCATOR_H
#define WNDL_RT_HEAP_RECORD_ALLOCATOR_H

#include "rt/core/kept_size.h"
#include "rt/heap/count/state.h"

#include <stdbool.h>
#include <stddef.h>

/* The functions that the hooks call. NULL for those that do not exist. */
struct wndl_rt_allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    size_t (*usable)(void *);
    bool keeps_sizes; /* wndl_rt_kept_size() can read them */
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
};

/*
 * The usable bytes of a block. The allocator's function for that is the last
 * choice: glibc's also reads the memory after the block, which may be in no
 * cache.
 */
static inline size_t wndl_rt_usable(
    const struct wndl_rt_allocator *allocator, void *block)
{
    size_t kept;
    bool is_kept = WNDL_RT_LIKELY(allocator->keeps_sizes) &&
                   WNDL_RT_LIKELY(wndl_rt_kept_size(block, &kept));
    return is_kept ? kept : allocator->usable(block);
}

#endif
