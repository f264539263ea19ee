/* SPDX-License-Identifier: MIT */
/*
 * flow_arm: follows 32-bit Arm code to its return that says it may not be
 * unwound, or says nothing. Its changes of sp on the way show where its frame
 * ends.
 *
 * Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_FLOW_ARM_H
#define WNDL_UNWIND_SLOW_FLOW_ARM_H

#include "unwind/slow/full.h"

/*
 * Steps to the caller, in this process only: false for others.
 *
 * A way must lead from the pc to a return to an address after a call. Calls are
 * passed over; so are branches, which are taken one by one after that. At most
 * 2,048 instructions are followed, each once. Registers that are not restored
 * on the way stay as they are. If libgcc has put another function in its
 * caller's place, the step is to that one; if that is its landing pad, `full`
 * is as if interrupted there. Takes 6 KiB of the stack.
 */
bool wndl_flow_arm_step(const struct wndl_space *space, struct wndl_full *full);

/*
 * The same with these bytes of code, whose first is at `addr`, for any space
 * that has PC and SP in `full`.
 */
bool wndl_flow_arm_step_in(const struct wndl_space *space,
    struct wndl_bytes bytes, uint64_t addr, struct wndl_full *full);

#endif
