/* SPDX-License-Identifier: MIT */
/*
 * jit_lists: the lists of generated code that programs keep for debuggers,
 * where no hook sees their changes. The collector finds them
 * (shm->descriptors).
 *
 * A list may change while it is read, because we may have interrupted the
 * change. Each part is copied through the kernel, which refuses unmapped
 * memory. A list that was half changed is read again at the next sample.
 */
#ifndef WNDL_RT_WALK_JIT_LISTS_H
#define WNDL_RT_WALK_JIT_LISTS_H

#include <stdint.h>

/*
 * Reads the lists that have changed, and registers their code for walks
 * (jit_registry.h). For the handler, before a walk; `now` is CLOCK_MONOTONIC
 * ns. Without lists it costs nothing; without changes, one system call. Changes
 * wait so that all reading together takes at most 2 % of the time.
 */
void wndl_rt_jit_lists_read(uint64_t now);

/* Excludes the list of `descriptor`, because a hook sees its changes. */
void wndl_rt_jit_lists_skip(const void *descriptor);

/* In a forked child: forgets the parent's reads. */
void wndl_rt_jit_lists_after_fork(void);

#endif
