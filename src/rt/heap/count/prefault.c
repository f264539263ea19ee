/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/prefault.h"

#include "os/raw.h"
#include "rt/core/rt.h"

#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

void wndl_rt_prefault_fetch(size_t *there, const void *table, size_t offset)
{
    uintptr_t start = (uintptr_t)table;
    uintptr_t page = (start + offset) & ~(uintptr_t)(WNDL_RT_PAGE - 1);
    *there = page + WNDL_RT_PREFAULT - start;
    if (!wndl_rt_is_careful())
        (void)wndl_raw3(
            SYS_madvise, (long)page, WNDL_RT_PREFAULT, MADV_POPULATE_WRITE);
}
