/* SPDX-License-Identifier: MIT */
/* descendants: the processes that processes have started, and these in turn. */
#ifndef WNDL_COLLECT_ATTACH_DESCENDANTS_H
#define WNDL_COLLECT_ATTACH_DESCENDANTS_H

#include "base/vec.h"

/*
 * Appends those that run now, and are not in the list, to `pids`, of pid_t.
 * False without memory, or without /proc.
 */
bool wndl_attach_descendants(struct wndl_vec *pids);

#endif
