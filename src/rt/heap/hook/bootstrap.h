/* SPDX-License-Identifier: MIT */
/*
 * bootstrap: blocks for allocations before the program's allocator is known.
 * dlsym() may allocate, and the program may free such blocks later.
 */
#ifndef WNDL_RT_HEAP_HOOK_BOOTSTRAP_H
#define WNDL_RT_HEAP_HOOK_BOOTSTRAP_H

#include "rt/core/rt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WNDL_RT_BOOTSTRAP = 64 * 1024 };

extern WNDL_RT_HIDDEN uint8_t wndl_rt_bootstrap[WNDL_RT_BOOTSTRAP];

/* NULL if there is no room. Its blocks have marks (heap/count/blocks.h). */
void *wndl_rt_bootstrap_allocate(size_t alignment, size_t size);

static inline bool wndl_rt_bootstrap_has(const void *block)
{
    return (uintptr_t)block - (uintptr_t)wndl_rt_bootstrap < WNDL_RT_BOOTSTRAP;
}

/* A block's size is not kept. At least so many bytes of it can be read. */
static inline size_t wndl_rt_bootstrap_readable(const void *block)
{
    return WNDL_RT_BOOTSTRAP -
           (size_t)((const uint8_t *)block - wndl_rt_bootstrap);
}

#endif
