/* SPDX-License-Identifier: MIT */
/*
 * listen: code that programs tell debuggers of by functions of their own, which
 * no hook stands before: their lists of it are looked at. The collector knows
 * where they are (shm->descriptors).
 *
 * The list changes while we look: we may have interrupted who is at it. Each
 * part of it is read through the kernel, which refuses what is not there, and
 * copied; if it was half changed, then it is another one at the next look.
 */
#ifndef WNDL_RT_WALK_JIT_LISTS_H
#define WNDL_RT_WALK_JIT_LISTS_H

#include <stdint.h>

/*
 * Looks whether there is other code by now, and if so takes it over for walks
 * (frames.h). In the handler, before a walk; `now` is CLOCK_MONOTONIC ns. Where
 * nothing is listened to it costs nothing; where nothing has changed, a system
 * call; a change waits until all of them together take 2 % of the time.
 */
void wndl_rt_listen(uint64_t now);

/* A hook stands before what belongs to this descriptor: it is heard already. */
void wndl_rt_listen_not(const void *descriptor);

/* In a forked child. */
void wndl_rt_listen_after_fork(void);

#endif
