/* SPDX-License-Identifier: MIT */
/*
 * collapsed: stacks without recursion in the place of a profile's own. Tables,
 * trees and exports are then made as ever.
 */
#ifndef WNDL_ANALYZE_TIME_COLLAPSED_H
#define WNDL_ANALYZE_TIME_COLLAPSED_H

#include "model/symbolized.h"

/*
 * Leaves of each stack of the samples and blocks of `p`, whose names are in
 * `s`, only one call of each function: its last, below the callers of its
 * first. So a, b, a, c becomes a, c. It costs one step for each function on
 * each distinct stack node. False when memory is out.
 */
bool wndl_collapse_recursion(struct wndl_profile *p, struct wndl_symbolized *s);

#endif
