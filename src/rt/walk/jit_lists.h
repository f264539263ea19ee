/* SPDX-License-Identifier: MIT */
/*
 * jit_lists: the lists of generated code that programs keep for debuggers,
 * where no hook stands before the functions that change them. The collector
 * finds them (shm->descriptors).
 *
 * A list may change while it is read: we may have interrupted who changes it.
 * Each part is read through the kernel, which refuses what is not there, and
 * copied; a list that was half changed is another one at the next look.
 */
#ifndef WNDL_RT_WALK_JIT_LISTS_H
#define WNDL_RT_WALK_JIT_LISTS_H

#include <stdint.h>

/*
 * Reads the lists that have changed, and takes their code over for walks
 * (jit_registry.h). In the handler, before a walk; `now` is CLOCK_MONOTONIC ns.
 * Without lists it costs nothing; where nothing has changed, a system call; a
 * change waits until all of them together take 2 % of the time.
 */
void wndl_rt_jit_lists_read(uint64_t now);

/* A hook sees what is added to the list of this descriptor: it is not read. */
void wndl_rt_jit_lists_skip(const void *descriptor);

/* In a forked child. */
void wndl_rt_jit_lists_after_fork(void);

#endif
