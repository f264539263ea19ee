/* SPDX-License-Identifier: MIT */
/*
 * flow_arm: 32-bit Arm code that says of itself that it may not be unwound, or
 * says nothing, followed to its return: what it does to sp on the way tells
 * where its frame ends.
 *
 * Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_FLOW_ARM_H
#define WNDL_UNWIND_SLOW_FLOW_ARM_H

#include "unwind/slow/full.h"

/*
 * Of this process alone: false for others.
 *
 * To the caller, if from the pc a way leads to a return to behind a call: calls
 * are passed over, branches too, and taken one by one after that. At most 2,048
 * instructions, each once. Registers that are not restored on the way stay as
 * they are. Where libgcc has put another function in its caller's place, to
 * that one; where it is its landing pad, `full` is as if interrupted there.
 * Takes 6 KiB of the stack.
 */
bool wndl_flow_arm_step(const struct wndl_space *space, struct wndl_full *full);

/* The same by these bytes of code, whose first is at `addr`, of any space that
 * has PC and SP in `full`. */
bool wndl_flow_arm_step_in(const struct wndl_space *space,
    struct wndl_bytes bytes, uint64_t addr, struct wndl_full *full);

#endif
