/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/memory.h"

#include "os/raw.h"
#include "os/smaps.h"
#include "rt/core/rt.h"
#include "rt/heap/count/state.h"

/* Longer lines are skipped: their memory counts for the mapping before. */
enum { ROOM = 2048 };

void wndl_rt_heap_measure_memory(void)
{
    static uint8_t room[ROOM]; /* the stack may be small */
    struct wndl_heap *shared = wndl_rt_heap->shared;
    struct wndl_memory_sum sum;
    if (wndl_rt_is_careful() ||
        !wndl_smaps_sum(
            "/proc/self/smaps", (struct wndl_bytes){room, sizeof room}, &sum))
        return;
    shared->memory = sum;
    atomic_store(&shared->memory_time, wndl_raw_clock_ns(CLOCK_MONOTONIC));
}
