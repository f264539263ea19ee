/* SPDX-License-Identifier: MIT */
/*
 * heap_passed: blocks that came before the recording, and calls that it does
 * not see: of signal handlers, of the allocator itself. Any thread, any signal
 * handler.
 */
#ifndef WNDL_RT_HEAP_PASSED_H
#define WNDL_RT_HEAP_PASSED_H

#include "rt/heap_leaks.h"

#include <stdbool.h>

enum { WNDL_RT_EARLY = 512 };

/* Of a block, or of others that share its place: births or deaths may have
 * passed by. */
enum wndl_rt_passed { WNDL_RT_PASSED_BIRTH = 1, WNDL_RT_PASSED_DEATH = 2 };

void wndl_rt_passed_note(const void *block, enum wndl_rt_passed what);
uint8_t wndl_rt_passed_at(const void *block);

/* No block from before the recording is above this. */
extern uintptr_t wndl_rt_passed_high;

static inline bool wndl_rt_passed_may_be_early(const void *block)
{
    return (uintptr_t)block <= wndl_rt_passed_high;
}

/* Whether the block is from before the recording; it is forgotten. */
bool wndl_rt_passed_take_early(void *block);

/* Blocks are not from before any more, with a recording or without. */
void wndl_rt_passed_settle(void);

/* What is left of the blocks from before, and how many. */
size_t wndl_rt_passed_roots(struct wndl_rt_root roots[WNDL_RT_EARLY]);

#endif
