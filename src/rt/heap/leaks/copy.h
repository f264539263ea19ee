/* SPDX-License-Identifier: MIT */
/*
 * copy: the search in a copy of the process, in which nothing else runs: there
 * memory can be read in place.
 */
#ifndef WNDL_RT_HEAP_LEAKS_COPY_H
#define WNDL_RT_HEAP_LEAKS_COPY_H

#include "rt/heap/leaks/follow.h"

/* Whether it pays, and a copy may be made. */
bool wndl_rt_copy_is_wanted(const struct wndl_rt_areas *areas);

/*
 * Calls `search` in a copy. False: it did not come to its end, or what it has
 * found cannot be believed; nothing is left of that.
 */
bool wndl_rt_copy_search(
    struct wndl_rt_follower *s, void (*search)(void *context), void *context);

#endif
