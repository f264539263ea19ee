/* SPDX-License-Identifier: MIT */
/*
 * hook_new: C++'s operators new and delete of allocators that bring their own.
 * The C++ library's call malloc and free, and are left alone: where others
 * stand before them, modules' imports of those are led to ours.
 */
#ifndef WNDL_RT_HOOK_NEW_H
#define WNDL_RT_HOOK_NEW_H

#include "os/dlfind.h"
#include "rt/heap_imports.h"

#include <stdbool.h>
#include <stddef.h>

enum { WNDL_RT_NEW_FUNCTIONS = 20 };

/*
 * Fills in those that all modules import from `allocator`, where malloc is.
 * Returns how many. Not for signal handlers.
 */
size_t wndl_rt_new_find(const struct wndl_dlmodule *allocator,
    struct wndl_rt_import imports[WNDL_RT_NEW_FUNCTIONS]);

/* Whether the calling thread is in a delete of this: it is counted there. */
bool wndl_rt_new_is_deleting(const void *block);

#endif
