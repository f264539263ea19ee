/* SPDX-License-Identifier: MIT */
/*
 * own: calls of an allocator's own functions beside the standard's: C++'s
 * operators and Mozilla's.
 */
#ifndef WNDL_RT_HEAP_HOOK_OWN_H
#define WNDL_RT_HEAP_HOOK_OWN_H

#include "rt/heap/hook/calls.h"

/*
 * Records a block that the allocator made outside of enter() and leave().
 * Returns the block, which may be NULL.
 */
void *wndl_rt_heap_made(void *block, size_t size, const struct wndl_regs *regs);

/* Does what the allocator's realloc does, by `mover`, and records it. */
void *wndl_rt_heap_moved(const struct wndl_rt_mover *mover, void *block,
    size_t size, const struct wndl_regs *regs);

/*
 * Records a block that the allocator is about to free. Returns the thread if it
 * is now busy, until leave().
 */
struct wndl_rt_heap_thread *wndl_rt_heap_ended(
    void *block, const struct wndl_regs *regs);

#endif
