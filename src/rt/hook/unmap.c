/* SPDX-License-Identifier: MIT */
/*
 * unmap: a program may unmap everything that it finds mapped and does not know.
 * The shared block and this object stay mapped, because the next sample would
 * otherwise crash. (Mappings that it unmaps without libc are gone, and it with
 * them.)
 */
#include "os/dlfind.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"

#include <sys/mman.h>

struct range {
    uintptr_t start, end;
};

/* Whole pages are mapped. */
static struct range mapped(uintptr_t start, uintptr_t end)
{
    return (struct range){
        start, (end + WNDL_RT_PAGE - 1) & ~(uintptr_t)(WNDL_RT_PAGE - 1)};
}

static struct range of_block(void)
{
    uintptr_t start = (uintptr_t)wndl_rt.shm;
    return mapped(start, start == 0 ? 0 : start + wndl_rt.shared_size);
}

static struct range of_object(void)
{
    struct wndl_dlmodule self;
    if (wndl_rt.shm == NULL || !wndl_dlfind((uintptr_t)&wndl_rt, &self))
        return (struct range){0};
    return mapped((uintptr_t)self.map_start, (uintptr_t)self.map_end);
}

static bool overlap(struct range a, struct range b)
{
    return a.start < b.end && b.start < a.end;
}

/* `wanted` without `kept`. */
static int unmap_around(struct range wanted, struct range kept)
{
    int result = 0;
    if (wanted.start < kept.start)
        result = wndl_rt_real()->munmap(
            (void *)wanted.start, kept.start - wanted.start);
    if (result == 0 && kept.end < wanted.end)
        result =
            wndl_rt_real()->munmap((void *)kept.end, wanted.end - kept.end);
    return result;
}

static int unmap(struct range wanted)
{
    struct range kept = of_block();
    if (overlap(wanted, kept))
        return unmap_around(wanted, kept);
    kept = of_object();
    if (overlap(wanted, kept))
        return unmap_around(wanted, kept);
    return wndl_rt_real()->munmap(
        (void *)wanted.start, wanted.end - wanted.start);
}

WNDL_RT_HOOK int munmap(void *address, size_t size)
{
    wndl_rt_heap_unmap(address, size);
    int result =
        unmap((struct range){(uintptr_t)address, (uintptr_t)address + size});
    atomic_fetch_add_explicit(&wndl_rt.unmaps, 1, memory_order_release);
    return result;
}
