/* SPDX-License-Identifier: MIT */
/*
 * rules: the unwinder of all threads. It caches the rules of code that walks
 * have visited.
 */
#ifndef WNDL_RT_WALK_RULES_H
#define WNDL_RT_WALK_RULES_H

struct wndl_unwinder;

/* The unwinder. The first call must not be in a signal handler. */
struct wndl_unwinder *wndl_rt_unwinder(void);

/* Voids what all threads know of code, because a module was unloaded. */
void wndl_rt_rules_forget(void);

#endif
