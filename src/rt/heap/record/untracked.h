/* SPDX-License-Identifier: MIT */
/*
 * untracked: blocks from before the recording, and calls that are counted but
 * not recorded, such as those of signal handlers and of the allocator itself.
 * Any thread, any signal handler.
 */
#ifndef WNDL_RT_HEAP_RECORD_UNTRACKED_H
#define WNDL_RT_HEAP_RECORD_UNTRACKED_H

#include "rt/heap/count/state.h"
#include "rt/heap/leaks/leaks.h"
#include "rt/heap/record/allocator.h"

#include <stdbool.h>

enum { WNDL_RT_EARLY = 512 };

/*
 * The calls for a block, or for others that share its place, that may have been
 * untracked.
 */
enum wndl_rt_untracked {
    WNDL_RT_UNTRACKED_ALLOC = 1,
    WNDL_RT_UNTRACKED_FREE = 2
};

void wndl_rt_untracked_note(const void *block, enum wndl_rt_untracked what);
uint8_t wndl_rt_untracked_at(const void *block);

/*
 * Blocks that were not sampled are in no table. A process that `inherits` knows
 * its own blocks by their place, modulo 4 MiB. An inherited block that shares a
 * place is taken for its own, but none of its own for an inherited one.
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
 * Whether the block is from before the recording. It is then forgotten. Such
 * blocks have a mark: block_marks.h.
 */
bool wndl_rt_untracked_take_early(void *block);

/* Ends the collecting of blocks from before, with a recording or without. */
void wndl_rt_untracked_settle(void);

/* The remaining blocks from before. Returns their number. */
size_t wndl_rt_untracked_roots(struct wndl_rt_root roots[WNDL_RT_EARLY]);

/* Count calls of a thread that could not enter. */
void wndl_rt_untracked_alloc(void *block, size_t requested, size_t usable);
void wndl_rt_untracked_free(const struct wndl_rt_allocator *real, void *block);

#endif
