/* SPDX-License-Identifier: MIT */
/*
 * call: decodes the call instruction before a return address, backwards. x86
 * code can be decoded so in several ways, so a call that is found may not be
 * one.
 */
#ifndef WNDL_UNWIND_SPACE_CALL_H
#define WNDL_UNWIND_SPACE_CALL_H

#include "unwind/space/space.h"

struct wndl_call {
    uint64_t target; /* of a direct call, else 0 */
    uint64_t slot;   /* address of an indirect call's target; 0: not known */
};

/* False if no call ends at `ra`, or its code cannot be read. */
bool wndl_call_before(
    const struct wndl_space *space, uint64_t ra, struct wndl_call *call);

/*
 * Whether this call can have led to the code at `pc`. A direct call, also
 * through a stub of a linkage table, leads to its function only, as far as the
 * extent of that is known. Any other call may lead anywhere. Functions without
 * CFI have no known end, so that true may be wrong.
 */
bool wndl_call_may_reach(
    const struct wndl_space *space, const struct wndl_call *call, uint64_t pc);

/*
 * The function that a call leads to: a direct call, also through a stub of a
 * linkage table. 0: it is not known.
 */
uint64_t wndl_call_function(
    const struct wndl_space *space, const struct wndl_call *call);

/*
 * The address of a disp32 operand, in an instruction that ends at `next`. With
 * 64 bits it is relative to that.
 */
uint64_t wndl_call_operand(
    const struct wndl_space *space, const uint8_t *disp32, uint64_t next);

#endif
