/* SPDX-License-Identifier: MIT */
/*
 * turned: other stacks in the place of a profile's own: those below a function,
 * or those of its callers. Tables, trees and exports are then made as ever.
 */
#ifndef WNDL_ANALYZE_TIME_TURNED_H
#define WNDL_ANALYZE_TIME_TURNED_H

#include "model/symbolized.h"

enum wndl_turn {
    /* Stacks begin at the outermost call of the function. */
    WNDL_TURN_CALLEES,
    /* Upside down: from the innermost call of the function to its callers. */
    WNDL_TURN_CALLERS,
    /* Upside down: from the innermost function to its callers. */
    WNDL_TURN_INVERTED,
};

/*
 * Replaces the stacks of the samples and blocks of `p`, whose names are in `s`,
 * and drops those without `function` (as in wndl_function_is_named; NULL for
 * WNDL_TURN_INVERTED). A stack that was not whole ends in a frame "[lost]" or
 * "[truncated]" where its end is shown. The counts by walk end stay those of
 * the stacks before. It costs one step for each frame of each distinct stack.
 * False when memory is out.
 */
bool wndl_turn_stacks(struct wndl_profile *p, struct wndl_symbolized *s,
    enum wndl_turn turn, const char *function);

#endif
