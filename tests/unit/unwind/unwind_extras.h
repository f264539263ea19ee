/* SPDX-License-Identifier: MIT */
/*
 * unwind_extras: stack frames that ordinary C does not make: signal handlers
 * on both kinds of stack, realigned frames, code without CFI.
 */
#ifndef WNDL_TESTS_UNWIND_EXTRAS_H
#define WNDL_TESTS_UNWIND_EXTRAS_H

#include "unwind_chain.h"

#include <stdbool.h>
#include <stdlib.h>

/* For set-up and for signal handlers, where cmocka's long jumps do harm. */
static inline void must(bool done)
{
    if (!done)
        abort();
}

/* Functions for chain.extra. The first EXTRA_WITH_CFI have CFI; a chain on
 * the rest ends for libgcc where they are. */
enum {
    EXTRA_SIGNAL,           /* goes on in a handler on the same stack */
    EXTRA_SIGNAL_ALTERNATE, /* goes on in a handler on the alternate stack */
    EXTRA_REALIGNED,        /* stack realigned, CFA in memory */
    EXTRA_ALL_SAVED,        /* all callee-saved registers on the stack */
    EXTRA_BY_RBX,           /* CFA by RBX, as in ld.so's trampoline */
    EXTRA_WITH_CFI,
    EXTRA_NO_CFI = EXTRA_WITH_CFI, /* frame pointer, but no FDE */
    EXTRA_COUNT,
};

extern long (*const extras[EXTRA_COUNT])(struct chain *chain);

/* Handlers for the process, an alternate stack for the calling thread. */
void extras_begin(void *alternate_stack, size_t size);
void extras_end(void);

/* Calls callback(argument) from code that has a frame pointer, no FDE. */
long call_without_cfi(long (*callback)(void *), void *argument);

/* The same from code whose CFA is by RBX. */
long call_by_rbx(long (*callback)(void *), void *argument);

#endif
