/* SPDX-License-Identifier: MIT */
/*
 * call: the call instruction in front of a return address, read backwards. x86
 * code can be read so in more ways than one: what looks like a call may be
 * none.
 */
#ifndef WNDL_UNWIND_SPACE_CALL_H
#define WNDL_UNWIND_SPACE_CALL_H

#include "unwind/space/space.h"

struct wndl_call {
    uint64_t target; /* of a direct one, else 0 */
    uint64_t slot;   /* where an indirect one finds its target; 0: not told */
};

/* False if no call ends at `ra`, or its code cannot be read. */
bool wndl_call_before(
    const struct wndl_space *space, uint64_t ra, struct wndl_call *call);

/* The address that a disp32 operand names, of an instruction that ends at
 * `next`: with 64 bits it counts from there. */
uint64_t wndl_call_operand(
    const struct wndl_space *space, const uint8_t *disp32, uint64_t next);

#endif
