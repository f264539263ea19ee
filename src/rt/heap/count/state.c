/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/state.h"

struct wndl_rt_heap_state wndl_rt_heap_none;
struct wndl_rt_heap_state *wndl_rt_heap = &wndl_rt_heap_none;

uint8_t wndl_rt_heap_generation;
bool wndl_rt_heap_inconsistent;

void wndl_rt_heap_set_inconsistent(void)
{
    wndl_rt_heap_inconsistent = true;
    if (wndl_rt_heap->shared != NULL)
        atomic_store(&wndl_rt_heap->shared->inconsistent, 1);
}
