/* SPDX-License-Identifier: MIT */
/*
 * calls: whether the call before a return address can have led to a piece of
 * code, by the bytes of their files. This is the check of a frame that was
 * found without rules (docs/unwinding.md, "How sure a frame is"). x86-64 and
 * i386.
 */
#ifndef WNDL_COLLECT_CODE_CALLS_H
#define WNDL_COLLECT_CODE_CALLS_H

#include "collect/code/binaries.h"

/* An address in a binary; NULL: in no file. */
struct wndl_call_place {
    struct wndl_binary *binary;
    uint64_t svma;
};

/* A step of a walk without rules. */
struct wndl_call_step {
    struct wndl_call_place to;   /* the return address that was found */
    struct wndl_call_place from; /* an address in the code that it called */
};

/*
 * Whether the call that returns to step->to can have led to step->from. It can
 * if it is of the function that contains that, if jumps lead on to it, or if a
 * call or a jump goes where a variable says. False also if it is not known. The
 * answer is kept for each pair of addresses.
 *
 * It is no check of a frame by a scan. That may be the return address of an
 * earlier call of the same function, which is still on the stack.
 */
bool wndl_calls_lead(
    struct wndl_binaries *binaries, const struct wndl_call_step *step);

/*
 * Makes frames of a walk that are WNDL_HOW_FP WNDL_HOW_CHECKED, if their calls
 * pass. `place` gives the place of an address.
 */
struct wndl_call_places {
    struct wndl_call_place (*place)(void *context, uint64_t address);
    void *context;
};
void wndl_calls_check_walk(struct wndl_binaries *binaries,
    const struct wndl_call_places *places, struct wndl_walk *walk);

#endif
