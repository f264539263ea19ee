/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks: where the stacks of the threads are that live.
 *
 * The main thread's stack is all that may become its stack. Another thread's
 * reaches from its stack pointer of now, less the red zone, to where it began:
 * it may be in a block of the heap.
 */
#ifndef MVP_STACKS_H
#define MVP_STACKS_H

#include "mvp.h"

void stacks_init(void);

/* Addresses [low, high] that are all of stacks or of none. */
struct stretch {
    Addr low;
    Addr high;
    Bool is_stack;
};

/* The stretch around `address`. */
void stacks_find(Addr address, struct stretch *stretch);

/* Whether the address is in what a thread that lives may use as its stack. */
Bool stacks_may_hold(Addr address);

/* Only thread `tid` is left, in a process of its own. */
void stacks_forget_others(ThreadId tid);

#endif
