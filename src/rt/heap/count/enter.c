/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/enter.h"

#include "rt/heap/count/thread.h"

__thread struct wndl_rt_heap_here wndl_rt_heap_here;

struct wndl_rt_heap_thread *wndl_rt_heap_enter_slowly(void)
{
    if (wndl_rt_heap_here.busy || wndl_rt_heap->shared == NULL ||
        wndl_rt_is_silent())
        return NULL;
    wndl_rt_heap_here.busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (wndl_rt_heap_here.self == NULL)
        wndl_rt_heap_here.self = wndl_rt_heap_thread_take(wndl_rt_heap->shared);
    if (wndl_rt_heap_here.self == NULL)
        wndl_rt_heap_here.busy = false;
    return wndl_rt_heap_here.self;
}
