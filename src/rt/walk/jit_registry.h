/* SPDX-License-Identifier: MIT */
/*
 * jit_registry: call frame information that the program registers for generated
 * code, for exceptions or debuggers. It is kept for walks. Hooks and
 * jit_lists.h report it.
 *
 * Records are copied, because a program may free them without notice, and a
 * walk that read them then would crash. Any thread, no signal handler. A call
 * waits only for other calls here and for walks that have begun. Without memory
 * nothing is kept, and such code has no caller.
 */
#ifndef WNDL_RT_WALK_JIT_REGISTRY_H
#define WNDL_RT_WALK_JIT_REGISTRY_H

#include "unwind/jit/registry.h"

/* Registers a copy of source->frame. The rest is used during the call only. */
void wndl_rt_jit_add(const struct wndl_jit_source *source);

/* Removes it. Afterwards no walk uses it any more. */
void wndl_rt_jit_remove(uint64_t origin);

/*
 * The registry for walks, which refers to the program's own, if any. May be
 * NULL. Any thread, any signal handler.
 */
struct wndl_jit *wndl_rt_jit_registry(void);

/*
 * Makes walks search `jit` before all other registries, and what it refers to.
 * Any signal handler.
 */
void wndl_rt_jit_look_first(struct wndl_jit *jit);

/* Sets the program's own registry; NULL for none. */
void wndl_rt_jit_use(struct wndl_jit *jit);

/*
 * Publishes the registry's address to the collector, for when it cannot know it
 * yet.
 */
void wndl_rt_jit_publish(void);

/* In a forked child, before any other call here. */
void wndl_rt_jit_after_fork(void);

#endif
