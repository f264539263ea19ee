/* SPDX-License-Identifier: MIT */
/*
 * allocator: the allocator that the program has, and the sizes of its blocks.
 */
#ifndef WNDL_RT_HEAP_RECORD_ALLOCATOR_H
#define WNDL_RT_HEAP_RECORD_ALLOCATOR_H

#include "rt/heap/count/state.h"

#include <stdbool.h>
#include <stddef.h>

/* The functions behind the hooked ones. NULL for what there is not. */
struct wndl_rt_allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    size_t (*usable)(void *);
    bool keeps_sizes; /* as wndl_rt_kept_size() reads them */
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
};

/*
 * glibc has a word before each block: the size from there to the next block's
 * word, and three flags. False: it does not say, for a mapping of its own.
 */
static inline bool wndl_rt_kept_size(const void *block, size_t *usable)
{
    enum { FLAGS = 7, IS_MAPPED = 2 };
    const size_t word = ((const size_t *)block)[-1];
    *usable = (word & ~(size_t)FLAGS) - sizeof word;
    return (word & IS_MAPPED) == 0;
}

/*
 * The bytes that a block has. The allocator's function for that is called last:
 * glibc's looks at the block behind this one, too, which may be in no cache.
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
