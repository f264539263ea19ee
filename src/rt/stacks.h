/* SPDX-License-Identifier: MIT */
/*
 * stacks: which memory around a stack pointer can be read.
 *
 * A thread's own stack ("[stack]", or the mapping that holds its TCB) stays
 * mapped while the thread runs, so it is looked up once. Any other memory a
 * thread runs on (a coroutine's stack, an alternate signal stack) may be
 * unmapped behind our back: the kernel is asked at each sample whether the
 * next 256 KiB above the stack pointer are still mapped, and only those are
 * read. What that does not see: a page made unreadable after it was looked
 * up, and an unmapping by another thread during the walk itself.
 */
#ifndef WNDL_RT_STACKS_H
#define WNDL_RT_STACKS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/unwind.h>

enum { WNDL_RT_OTHER_STACKS = 4, WNDL_RT_STACKS_GIVEN = 2 };

/* high == 0: not known. Zeroed memory knows nothing. */
struct wndl_rt_stacks {
    struct wndl_stack_range own;
    struct wndl_stack_range others[WNDL_RT_OTHER_STACKS];
    uint32_t next; /* of others, to be replaced */
};

/*
 * Fills `ranges` with the stack that `sp` is in and, when that is not the
 * thread's own, the own one. Returns how many; 0 when sp is in no readable
 * memory. `room` is for reading /proc/self/maps. Signal-safe.
 */
size_t wndl_rt_stacks_around(struct wndl_rt_stacks *stacks, uint64_t sp,
    struct wndl_bytes room,
    struct wndl_stack_range ranges[WNDL_RT_STACKS_GIVEN]);

#endif
