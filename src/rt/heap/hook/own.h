/* SPDX-License-Identifier: MIT */
/*
 * own: calls of functions that an allocator has of its own, beside the
 * standard's: C++'s operators and Mozilla's.
 */
#ifndef WNDL_RT_HEAP_HOOK_OWN_H
#define WNDL_RT_HEAP_HOOK_OWN_H

#include "rt/heap/hook/calls.h"

/* The allocator has made it outside of enter() and leave(). Returns the block,
 * which may be NULL. */
void *wndl_rt_heap_made(void *block, size_t size, const struct wndl_regs *regs);

/* As the allocator's realloc, by `mover`. */
void *wndl_rt_heap_moved(const struct wndl_rt_mover *mover, void *block,
    size_t size, const struct wndl_regs *regs);

/*
 * The allocator is about to free it. Returns the thread if it is at work now,
 * until leave().
 */
struct wndl_rt_heap_thread *wndl_rt_heap_ended(
    void *block, const struct wndl_regs *regs);

#endif
