/* SPDX-License-Identifier: MIT */
/*
 * hook_mozilla: what Mozilla's allocator offers beside the standard's
 * functions, in Firefox's executable, and by which most of Firefox allocates
 * (mfbt/mozmemory and memory/mozalloc there). Its strdup and strndup too, which
 * call no malloc that we could see.
 */
#ifndef WNDL_RT_HOOK_MOZILLA_H
#define WNDL_RT_HOOK_MOZILLA_H

#include "os/dlfind.h"
#include "rt/heap_imports.h"

#include <stddef.h>

enum { WNDL_RT_MOZILLA_FUNCTIONS = 14 };

/*
 * Fills in those that are in the module of `allocator`, whose own calls of
 * malloc are not seen. Returns how many. Not for signal handlers.
 */
size_t wndl_rt_mozilla_find(const struct wndl_dlmodule *allocator,
    struct wndl_rt_import imports[WNDL_RT_MOZILLA_FUNCTIONS]);

#endif
