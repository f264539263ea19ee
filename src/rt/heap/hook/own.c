/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/own.h"

#include "rt/heap/hook/resolve.h"

void *wndl_rt_heap_made(void *block, size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (a == NULL)
        return block;
    return wndl_rt_call_record(wndl_rt_heap_enter(), a, block, size, regs);
}

struct wndl_rt_heap_thread *wndl_rt_heap_ended(
    void *block, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    if (block == NULL || a == NULL)
        return NULL;
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        wndl_rt_untracked_free(a, block);
    else
        wndl_rt_heap_end(t, a, block, regs);
    return t;
}

void *wndl_rt_heap_moved(const struct wndl_rt_mover *mover, void *block,
    size_t size, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    return a == NULL ? mover->move(mover->context, block, size)
                     : wndl_rt_call_move(a, mover, block, size, regs);
}
