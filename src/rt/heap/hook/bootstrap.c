/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/bootstrap.h"

#include "rt/heap/count/block_marks.h"

#include <stdatomic.h>

_Alignas(16) uint8_t wndl_rt_bootstrap[WNDL_RT_BOOTSTRAP];
static _Atomic size_t used;

void *wndl_rt_bootstrap_allocate(size_t alignment, size_t size)
{
    size_t room = WNDL_RT_BOOTSTRAP;
    size_t wanted = (size + alignment + 15) & ~(size_t)15;
    size_t at = atomic_fetch_add(&used, wanted);
    if (wanted < size || wanted > room || at > room - wanted)
        return NULL;
    uintptr_t start = (uintptr_t)wndl_rt_bootstrap + at;
    start = (start + alignment - 1) & ~(uintptr_t)(alignment - 1);
    wndl_rt_blocks_mark(start);
    return (void *)start;
}
