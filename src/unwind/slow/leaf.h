/* SPDX-License-Identifier: MIT */
/*
 * leaf: i386 code that is called in passing, and has no or incomplete CFI.
 * There are the thunks that every position-independent function calls for its
 * own address (the C startup files have theirs without CFI), the entry of the
 * vDSO's functions, and string functions of libc that push a register without
 * CFI for it. A return address is recognised by the call before it.
 */
#ifndef WNDL_UNWIND_SLOW_LEAF_H
#define WNDL_UNWIND_SLOW_LEAF_H

#include "unwind/slow/full.h"

/*
 * Steps from interrupted code to its caller, if the word at SP is the return
 * address of a direct call of that code, or of up to 16 bytes before it.
 */
bool wndl_leaf_called(
    const struct wndl_space *space, struct wndl_fp_state *state);

/* Steps to a call's return address, if it is among the `words` at SP. */
bool wndl_leaf_pushed(const struct wndl_space *space,
    struct wndl_fp_state *state, unsigned words);

/*
 * Whether there is a ret, and no call, before the return address `ra`.
 * makecontext() lets coroutines end at such an address, just after itself.
 */
bool wndl_leaf_is_after_ret(const struct wndl_space *space, uint64_t ra);

/*
 * Whether the code at the return address `ra` only makes a call, and halts if
 * that returns: it ends the process. boost.context lets its fibers end at such
 * an address.
 */
bool wndl_leaf_ends_there(const struct wndl_space *space, uint64_t ra);

#endif
