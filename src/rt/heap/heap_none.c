/* SPDX-License-Identifier: MIT */
/* heap_none: heap recording in the object that leaves malloc alone. */
#include "rt/heap/heap.h"

#include "rec/heap.h"

bool wndl_rt_heap_is_object(void)
{
    return false;
}

size_t wndl_rt_heap_shared_size(const struct wndl_go *go)
{
    return (go->heap & WNDL_HEAP_ON) != 0 ? wndl_shm_size(go->nodes)
                                          : wndl_shm_whole_size(go->nodes);
}

uint32_t wndl_rt_heap_tag_of_start(const struct wndl_regs *regs)
{
    (void)regs;
    return 0;
}

void wndl_rt_heap_begin_tag(uint32_t tag)
{
    (void)tag;
}

void wndl_rt_heap_start(const struct wndl_go *go)
{
    (void)go;
}

void wndl_rt_heap_unmap(const void *address, size_t size)
{
    (void)address;
    (void)size;
}

void wndl_rt_heap_settle(void)
{
}

void wndl_rt_heap_unload(bool begins)
{
    (void)begins;
}

void wndl_rt_heap_end_thread(void)
{
}

void wndl_rt_heap_expect_sandbox(void)
{
}

void wndl_rt_heap_stop_thread(void)
{
}

void wndl_rt_heap_before_fork(void)
{
}

void wndl_rt_heap_after_fork_in_parent(void)
{
}

void wndl_rt_heap_after_fork_in_child(void)
{
}
