/* SPDX-License-Identifier: MIT */
/* kept_size: the sizes of blocks that glibc's allocator keeps. */
#ifndef WNDL_RT_CORE_KEPT_SIZE_H
#define WNDL_RT_CORE_KEPT_SIZE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads a size that glibc keeps. It has a word before each block, with the
 * distance to the next block's word and three flags. False: the block is a
 * mapping of its own, of which that does not hold.
 */
static inline bool wndl_rt_kept_size(const void *block, size_t *usable)
{
    enum { FLAGS = 7, IS_MAPPED = 2 };
    const size_t word = ((const size_t *)block)[-1];
    *usable = (word & ~(size_t)FLAGS) - sizeof word;
    return (word & IS_MAPPED) == 0;
}

#endif
