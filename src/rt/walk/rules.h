/* SPDX-License-Identifier: MIT */
/*
 * rules: the unwinder of all threads, which keeps the rules of the code that
 * walks have come to.
 */
#ifndef WNDL_RT_WALK_RULES_H
#define WNDL_RT_WALK_RULES_H

struct wndl_unwinder;

/* Made by the first thread that asks. NULL when there is no room. */
struct wndl_unwinder *wndl_rt_unwinder(void);

/* A module has gone: what any thread learnt of code is void. */
void wndl_rt_rules_forget(void);

#endif
