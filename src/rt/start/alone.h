/* SPDX-License-Identifier: MIT */
/*
 * alone: the start of a process whose collector is stopped or busy. It makes
 * the block itself, and the collector takes it over once it goes on.
 */
#ifndef WNDL_RT_START_ALONE_H
#define WNDL_RT_START_ALONE_H

#include "rec/shm.h"

#include <stdbool.h>

/* Keeps the last answer for forked children. */
void wndl_rt_alone_remember(const struct wndl_go *go);

/*
 * Whether another process of the session has waited in vain, and the collector
 * has not heard of it yet; and the note that this one has.
 */
bool wndl_rt_alone_is_usual(void);
void wndl_rt_alone_make_usual(void);

/*
 * Makes the block by the settings in the session's folder or, where they cannot
 * be read, by those that this process or its parent has got. Fills *go in.
 * Returns the memory's descriptor, or -errno.
 */
int wndl_rt_alone_make(struct wndl_go *go);

#endif
