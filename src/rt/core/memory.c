/* SPDX-License-Identifier: MIT */
#include "rt/core/memory.h"

#include "os/raw.h"
#include "rt/core/rt.h"

#include <sys/mman.h>
#include <sys/resource.h>

uint8_t *wndl_rt_map_undumped(size_t size)
{
    uint8_t *memory = wndl_raw_map(
        size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (memory != NULL && !wndl_rt_is_careful())
        (void)wndl_raw3(SYS_madvise, (long)memory, (long)size, MADV_DONTDUMP);
    return memory;
}

bool wndl_rt_space_is_limited(void)
{
    struct rlimit64 space;
    return wndl_raw4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&space) != 0 ||
           space.rlim_cur != RLIM64_INFINITY;
}
