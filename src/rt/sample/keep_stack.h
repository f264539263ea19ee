/* SPDX-License-Identifier: MIT */
/*
 * keep_stack: copies of stacks whose walk was lost, for the collector
 * (struct wndl_shm_copy). A copy costs some microseconds; complete stacks cost
 * nothing. Signal-safe.
 */
#ifndef WNDL_RT_SAMPLE_KEEP_STACK_H
#define WNDL_RT_SAMPLE_KEEP_STACK_H

#include "rt/core/rt.h"

#include <windlass/unwind.h>

/* Whether a stack whose walk ended so (enum wndl_walk_end) is to be copied. */
static inline bool wndl_rt_keeps_stack(unsigned end)
{
    return end != WNDL_END_COMPLETE && end != WNDL_END_TRUNCATED &&
           atomic_load_explicit(
               &wndl_rt.shm->wants_copies, memory_order_relaxed) != 0;
}

/*
 * Copies the stack, as far as a copy has room. Returns the number of the copy +
 * 1; 0 if all are in use, or nothing could be read.
 */
uint32_t wndl_rt_keep_stack(
    const struct wndl_regs *regs, const struct wndl_stack_range *stack);

/* Frees a copy that no event has. 0 is ignored. */
void wndl_rt_drop_stack(uint32_t copy);

#endif
