/* SPDX-License-Identifier: MIT */
/*
 * jit_registry: call frame information that the program registers of code that
 * it has generated, for exceptions or for debuggers, kept for walks. Hooks and
 * jit_lists.h bring it.
 *
 * Records are copied: a program may give them back without a word, and a walk
 * that read them then would be the end of it. Any thread, no signal handler;
 * nothing is waited for but others who are here, and walks under way. Without
 * memory nothing is kept: such code has no caller then.
 */
#ifndef WNDL_RT_WALK_JIT_REGISTRY_H
#define WNDL_RT_WALK_JIT_REGISTRY_H

#include "unwind/jit/registry.h"

/* Copies source->frame; the rest is used before this returns. */
void wndl_rt_jit_add(const struct wndl_jit_source *source);

/* No walk uses it any more when this returns. */
void wndl_rt_jit_remove(uint64_t origin);

/* The registry that walks are given, which leads to the program's own, if
 * any. May be NULL. Any thread, any signal handler. */
struct wndl_jit *wndl_rt_jit_registry(void);

/* What walks look at before all others, and what leads there. Any signal
 * handler. */
void wndl_rt_jit_look_first(struct wndl_jit *jit);

/* The program's own registry, or NULL. */
void wndl_rt_jit_use(struct wndl_jit *jit);

/* Tells the collector of that registry. For when it cannot have known. */
void wndl_rt_jit_publish(void);

/* In a forked child, before anything else here. */
void wndl_rt_jit_after_fork(void);

#endif
