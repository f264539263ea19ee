/* SPDX-License-Identifier: MIT */
/*
 * stacks: finds the readable memory around a stack pointer.
 *
 * A thread's own stack ("[stack]", or the mapping that holds its TCB) stays
 * mapped while the thread runs. It is thus looked up once, in the list of
 * mappings. A thread may also run on other memory, such as a coroutine's stack
 * or an alternate signal stack. For that the kernel is asked page by page
 * whether the next 256 KiB above the stack pointer can be read.
 *
 * There may be thousands of such stacks, so answers are kept until the program
 * unmaps anything, for all threads. Since an unmapping may escape our hooks,
 * one call each time asks the kernel whether all of it is still mapped. Two
 * things go unnoticed: a page that is made unreadable afterwards, and an
 * unmapping by another thread during the walk itself.
 *
 * That call takes more than a microsecond. Walks that begin at a call of a
 * function, as those of the heap do, only ask for the last page, which takes a
 * tenth: what the callers of that function will return to is mapped, so only
 * wrong rules lead beyond it, and a shorter stack in the place of an earlier
 * one lacks the last page.
 */
#ifndef WNDL_RT_WALK_STACKS_H
#define WNDL_RT_WALK_STACKS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/unwind.h>

enum {
    WNDL_RT_OTHER_STACKS = sizeof(void *) < 8 ? 1 << 10 : 1 << 15,
    WNDL_RT_STACKS_GIVEN = 2,
};

/* A thread's stacks. high == 0: not known. Zeroed memory knows nothing. */
struct wndl_rt_stacks {
    struct wndl_stack_range own;
    bool is_initial; /* `own` is the process's first, which may grow */
    bool are_called; /* its walks begin at a call of a function */
};

/*
 * Fills `ranges` with the stack that contains `sp` and, if that is another one,
 * the thread's own. Returns their number; 0 if `sp` is in no readable memory.
 * `room` is for reading /proc/self/maps. Signal-safe.
 */
size_t wndl_rt_stacks_around(struct wndl_rt_stacks *stacks, uint64_t sp,
    struct wndl_bytes room,
    struct wndl_stack_range ranges[WNDL_RT_STACKS_GIVEN]);

#endif
