/* SPDX-License-Identifier: MIT */
/*
 * heap_passed: blocks that came before the recording, and calls that it does
 * not see: of signal handlers, of the allocator itself. Any thread, any signal
 * handler.
 */
#ifndef WNDL_RT_HEAP_RECORD_UNTRACKED_H
#define WNDL_RT_HEAP_RECORD_UNTRACKED_H

#include "rt/heap/count/state.h"
#include "rt/heap/leaks/leaks.h"

#include <stdbool.h>

enum { WNDL_RT_EARLY = 512 };

/* Of a block, or of others that share its place: births or deaths may have
 * passed by. */
enum wndl_rt_passed { WNDL_RT_PASSED_BIRTH = 1, WNDL_RT_PASSED_DEATH = 2 };

void wndl_rt_passed_note(const void *block, enum wndl_rt_passed what);
uint8_t wndl_rt_passed_at(const void *block);

/*
 * Blocks that were not taken are in no table. What a process that `inherits`
 * makes itself is known by its place instead, modulo 4 MiB: what it inherited
 * and shares one of these passes for its own, but none of its own for that.
 */
void wndl_rt_passed_note_own(const void *block);
bool wndl_rt_passed_is_own(const void *block);

static inline void wndl_rt_passed_made(const void *block)
{
    if (!WNDL_RT_LIKELY(!wndl_rt_heap->inherits))
        wndl_rt_passed_note_own(block);
}

static inline bool wndl_rt_passed_is_inherited(const void *block)
{
    return !WNDL_RT_LIKELY(!wndl_rt_heap->inherits) &&
           !wndl_rt_passed_is_own(block);
}

/*
 * Whether the block is from before the recording; it is forgotten. Those that
 * are have a mark: heap_blocks.h.
 */
bool wndl_rt_passed_take_early(void *block);

/* Blocks are not from before any more, with a recording or without. */
void wndl_rt_passed_settle(void);

/* What is left of the blocks from before, and how many. */
size_t wndl_rt_passed_roots(struct wndl_rt_root roots[WNDL_RT_EARLY]);

#endif
