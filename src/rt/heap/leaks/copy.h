/* SPDX-License-Identifier: MIT */
/*
 * copy: runs the search in a copy of the process. Nothing else runs there, so
 * memory can be read in place.
 */
#ifndef WNDL_RT_HEAP_LEAKS_COPY_H
#define WNDL_RT_HEAP_LEAKS_COPY_H

#include "rt/heap/leaks/follow.h"

/* Whether a copy may be made; and whether it is worth its cost, too. */
bool wndl_rt_copy_is_possible(const struct wndl_rt_areas *areas);
bool wndl_rt_copy_is_wanted(const struct wndl_rt_areas *areas);

/*
 * Calls `search` in a copy. False: it did not end, or its findings cannot be
 * trusted; none of them are kept.
 */
bool wndl_rt_copy_search(
    struct wndl_rt_follower *s, void (*search)(void *context), void *context);

/*
 * Calls `search` in a copy, which the caller does not wait for. The copy ends
 * with the calling thread. It stays a zombie until is_left() or wait() is
 * called. False: there is none.
 */
bool wndl_rt_copy_leave(
    struct wndl_rt_areas *areas, void (*search)(void *context), void *context);

/* Whether the copy that was left still runs. One thread at a time. */
bool wndl_rt_copy_is_left(void);

/* Waits for the copy that was left, if there is one. */
void wndl_rt_copy_wait(void);

/* In a forked child: the copy that was left is its parent's. */
void wndl_rt_copy_forget(void);

#endif
