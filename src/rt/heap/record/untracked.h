/* SPDX-License-Identifier: MIT */
/*
 * untracked: blocks from before the recording, and calls that are counted but
 * not recorded: of signal handlers, of the allocator itself. Any thread, any
 * signal handler.
 */
#ifndef WNDL_RT_HEAP_RECORD_UNTRACKED_H
#define WNDL_RT_HEAP_RECORD_UNTRACKED_H

#include "rt/heap/count/state.h"
#include "rt/heap/leaks/leaks.h"
#include "rt/heap/record/allocator.h"

#include <stdbool.h>

enum { WNDL_RT_EARLY = 512 };

/* Of a block, or of others that share its place: which calls may have been
 * untracked. */
enum wndl_rt_untracked {
    WNDL_RT_UNTRACKED_ALLOC = 1,
    WNDL_RT_UNTRACKED_FREE = 2
};

void wndl_rt_untracked_note(const void *block, enum wndl_rt_untracked what);
uint8_t wndl_rt_untracked_at(const void *block);

/*
 * Blocks that were not sampled are in no table. What a process that `inherits`
 * makes itself is known by its place instead, modulo 4 MiB: what it inherited
 * and shares one of these passes for its own, but none of its own for that.
 */
void wndl_rt_untracked_note_own(const void *block);
bool wndl_rt_untracked_is_own(const void *block);

static inline void wndl_rt_untracked_note_made(const void *block)
{
    if (!WNDL_RT_LIKELY(!wndl_rt_heap->inherits))
        wndl_rt_untracked_note_own(block);
}

static inline bool wndl_rt_untracked_is_inherited(const void *block)
{
    return !WNDL_RT_LIKELY(!wndl_rt_heap->inherits) &&
           !wndl_rt_untracked_is_own(block);
}

/*
 * Whether the block is from before the recording; it is forgotten. Those that
 * are have a mark: block_marks.h.
 */
bool wndl_rt_untracked_take_early(void *block);

/* Blocks are not from before any more, with a recording or without. */
void wndl_rt_untracked_settle(void);

/* What is left of the blocks from before, and how many. */
size_t wndl_rt_untracked_roots(struct wndl_rt_root roots[WNDL_RT_EARLY]);

/* Calls of a thread that could not enter. */
void wndl_rt_untracked_alloc(void *block, size_t requested, size_t usable);
void wndl_rt_untracked_free(const struct wndl_rt_allocator *real, void *block);

#endif
