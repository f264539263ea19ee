/* SPDX-License-Identifier: MIT */
/* calls: records the result of an allocator's function, whichever it was. */
#ifndef WNDL_RT_HEAP_HOOK_CALLS_H
#define WNDL_RT_HEAP_HOOK_CALLS_H

#include "rt/heap/record/record.h"
#include "rt/heap/record/unsampled.h"

#include <stddef.h>

static inline size_t wndl_rt_call_usable(
    const struct wndl_rt_allocator *a, void *block, size_t requested)
{
    size_t usable = wndl_rt_usable(a, block);
    return usable < requested ? requested : usable;
}

/* Both return the block, which may be NULL in the first. */
void *wndl_rt_call_untracked(
    const struct wndl_rt_allocator *a, void *block, size_t size);
void *wndl_rt_call_sampled(struct wndl_rt_heap_thread *t, void *block,
    size_t requested, size_t usable, const struct wndl_regs *regs);

/*
 * Records the allocator's result, a block or NULL, for a thread that has
 * entered, and leaves. `t` is NULL if it could not enter. Returns the block.
 */
static inline __attribute__((always_inline)) void *wndl_rt_call_record_inline(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_allocator *a,
    void *block, size_t size, const struct wndl_regs *regs)
{
    if (!WNDL_RT_LIKELY(t != NULL))
        return wndl_rt_call_untracked(a, block, size);
    if (block != NULL) {
        size_t usable = wndl_rt_call_usable(a, block, size);
        if (wndl_rt_heap_samples(t, size))
            return wndl_rt_call_sampled(t, block, size, usable, regs);
        wndl_rt_heap_count_alloc(
            t, block, (struct wndl_rt_sizes){size, usable}, 0);
    }
    wndl_rt_heap_leave();
    return block;
}

void *wndl_rt_call_record(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_allocator *a, void *block, size_t size,
    const struct wndl_regs *regs);

/* A variant of the allocator's realloc. */
struct wndl_rt_mover {
    void *(*move)(void *context, void *block, size_t size);
    void *context;
};

/*
 * Calls the allocator's realloc, or `by` if that is not NULL, and records the
 * result. `a` is NULL before the allocator is known.
 */
void *wndl_rt_call_move(const struct wndl_rt_allocator *a,
    const struct wndl_rt_mover *by, void *block, size_t size,
    const struct wndl_regs *regs);

#endif
