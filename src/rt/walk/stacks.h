/* SPDX-License-Identifier: MIT */
/*
 * stacks: which memory around a stack pointer can be read.
 *
 * A thread's own stack ("[stack]", or the mapping that holds its TCB) stays
 * mapped while the thread runs, so it is looked up once, in the list of
 * mappings. Of any other memory that a thread runs on (a coroutine's stack, an
 * alternate signal stack) the kernel is asked, page by page, whether the next
 * 256 KiB above the stack pointer can be read. The answers are kept, for there
 * may be thousands of such stacks, until the program unmaps anything; and as it
 * may do that behind our back, each time the kernel is asked, by one call,
 * whether all of it is still mapped. What that does not see: a page that is
 * made unreadable after it was looked at, and an unmapping by another thread
 * during the walk itself.
 */
#ifndef WNDL_RT_WALK_STACKS_H
#define WNDL_RT_WALK_STACKS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/unwind.h>

enum { WNDL_RT_OTHER_STACKS = 128, WNDL_RT_STACKS_GIVEN = 2 };

/* Readable. `ends`: what follows is not; else that was not looked at. */
struct wndl_rt_other_stack {
    uint64_t low, high; /* high == 0: none */
    bool ends;
};

/* high == 0: not known. Zeroed memory knows nothing. */
struct wndl_rt_stacks {
    struct wndl_stack_range own;
    bool is_initial; /* own is the process's first: it may grow */
    uint32_t unmaps; /* of wndl_rt.unmaps: others are of then */
    struct wndl_rt_other_stack others[WNDL_RT_OTHER_STACKS]; /* by address */
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
