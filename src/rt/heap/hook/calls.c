/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/calls.h"

#include "rt/heap/hook/bootstrap.h"
#include "rt/heap/hook/resolve.h"
#include "rt/heap/record/search.h"
#include "rt/tags/core/current.h"

#include <string.h>

void *wndl_rt_call_untracked(
    const struct wndl_rt_allocator *a, void *block, size_t size)
{
    if (block != NULL)
        wndl_rt_untracked_alloc(
            block, size, wndl_rt_call_usable(a, block, size));
    return block;
}

void *wndl_rt_call_sampled(struct wndl_rt_heap_thread *t, void *block,
    size_t requested, size_t usable, const struct wndl_regs *regs)
{
    wndl_rt_heap_allocated_sampled(t, &(struct wndl_rt_alloc){
                                          .block = block,
                                          .requested = requested,
                                          .usable = usable,
                                          .regs = regs,
                                          .tag = wndl_rt_tag_current(),
                                      });
    if (wndl_rt_heap_scan_is_due())
        wndl_rt_heap_scan_as_asked(regs);
    wndl_rt_heap_leave();
    return block;
}

void *wndl_rt_call_record(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_allocator *a, void *block, size_t size,
    const struct wndl_regs *regs)
{
    return wndl_rt_call_record_inline(t, a, block, size, regs);
}

/* ---- realloc */

static void *move_from_bootstrap(void *block, size_t size)
{
    const struct wndl_rt_allocator *a = wndl_rt_real_allocator();
    void *moved =
        a == NULL ? wndl_rt_bootstrap_allocate(16, size) : a->malloc(size);
    if (moved == NULL || block == NULL)
        return moved;
    size_t most = wndl_rt_bootstrap_readable(block);
    memcpy(moved, block, size < most ? size : most);
    if (a != NULL)
        wndl_rt_untracked_alloc(
            moved, size, wndl_rt_call_usable(a, moved, size));
    return moved;
}

/* `by` is NULL for the allocator's own realloc. */
static void *move(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size)
{
    return by == NULL ? a->realloc(block, size)
                      : by->move(by->context, block, size);
}

static void *move_untracked(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size)
{
    if (block != NULL)
        wndl_rt_untracked_free(a, block);
    void *moved = move(a, by, block, size);
    if (moved != NULL)
        wndl_rt_untracked_alloc(
            moved, size, wndl_rt_call_usable(a, moved, size));
    return moved;
}

void *wndl_rt_call_move(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size,
    const struct wndl_regs *regs)
{
    if (a == NULL || wndl_rt_bootstrap_has(block))
        return move_from_bootstrap(block, size);
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return move_untracked(a, by, block, size);
    if (block == NULL)
        return wndl_rt_call_record(t, a, move(a, by, block, size), size, regs);
    struct wndl_rt_free freed;
    wndl_rt_heap_take(a, block, &freed);
    void *moved = move(a, by, block, size);
    if (moved == NULL && size != 0) {
        wndl_rt_heap_keep(t, &freed);
        wndl_rt_heap_leave();
        return NULL;
    }
    wndl_rt_heap_replaced(t, &freed, regs);
    if (moved != NULL) {
        wndl_rt_heap_allocated(
            t, &(struct wndl_rt_alloc){.block = moved,
                   .requested = size,
                   .usable = wndl_rt_call_usable(a, moved, size),
                   .regs = regs,
                   .tag = wndl_rt_heap_tag_of(&freed)});
        wndl_rt_heap_regrown(t, &freed);
    }
    wndl_rt_heap_leave();
    return moved;
}
