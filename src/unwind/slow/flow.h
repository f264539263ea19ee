/* SPDX-License-Identifier: MIT */
/*
 * flow: follows x86-64 code without CFI to its return. The C startup files have
 * such code: .init and .fini, with the parts that other code adds, and
 * functions around them. It is short and straight, and few instructions change
 * SP.
 */
#ifndef WNDL_UNWIND_SLOW_FLOW_H
#define WNDL_UNWIND_SLOW_FLOW_H

#include "unwind/slow/full.h"

/*
 * Steps from `state`, whose pc is in code without CFI, to the address to which
 * the code's `ret` would return; a call must be before that. False, with
 * `state` unchanged, if the code is of another kind. *pops_fp: RBP changes.
 */
bool wndl_flow_return(
    const struct wndl_space *space, struct wndl_fp_state *state, bool *pops_fp);

#endif
