/* SPDX-License-Identifier: MIT */
/*
 * flow: follows x86 code without CFI to its return: assembly of codecs and of
 * libraries for numbers, the C startup files, functions that were compiled
 * without rules. What the instructions on the way do to SP shows where the
 * return address is.
 */
#ifndef WNDL_UNWIND_SLOW_FLOW_H
#define WNDL_UNWIND_SLOW_FLOW_H

#include "unwind/core/rule.h"
#include "unwind/slow/full.h"

/*
 * Steps from `state`, whose pc is in code without CFI, to the address to which
 * the code's `ret` would return; a call must be before that. Branches are not
 * taken, unless the code would go round otherwise. False, with `state`
 * unchanged, if SP is lost, or no return is reached in 512 instructions.
 * *pops_fp: RBP changes. It is 0 then if it is not known.
 */
bool wndl_flow_return(
    const struct wndl_space *space, struct wndl_fp_state *state, bool *pops_fp);

/*
 * The same. *rule receives what the code alone decides about it, for any SP and
 * FP: FLOW_SP, FLOW_FP or NO_FLOW; else EMPTY.
 */
bool wndl_flow_learn(const struct wndl_space *space,
    struct wndl_fp_state *state, bool *pops_fp, struct wndl_rule *rule);

/*
 * The same step by such a rule, FLOW_SP or FLOW_FP. False, with `state`
 * unchanged, where the code has to be followed.
 */
bool wndl_flow_repeat(const struct wndl_space *space,
    struct wndl_fp_state *state, struct wndl_rule rule, bool *pops_fp);

#endif
