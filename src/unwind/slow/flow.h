/* SPDX-License-Identifier: MIT */
/*
 * flow: x86-64 code of which no CFI tells, followed to its return. The C
 * startup files bring such: .init and .fini, with what other code adds to
 * them, and functions around them. It is short, straight, and leaves SP to
 * few instructions.
 */
#ifndef WNDL_UNWIND_SLOW_FLOW_H
#define WNDL_UNWIND_SLOW_FLOW_H

#include "unwind/slow/full.h"

/*
 * Steps from `state`, whose pc is in code without CFI, to what the code's
 * `ret` would return to; a call must be before that. False, with `state` left
 * alone, where the code is of another kind. *pops_fp: RBP is another one.
 */
bool wndl_flow_return(
    const struct wndl_space *space, struct wndl_fp_state *state, bool *pops_fp);

#endif
