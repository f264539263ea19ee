/* SPDX-License-Identifier: MIT */
/*
 * hook_mozilla: what Mozilla's allocator offers beside the standard's
 * functions, in Firefox's executable, and by which most of Firefox allocates
 * (mfbt/mozmemory and memory/mozalloc there). Its strdup and strndup too, which
 * call no malloc that we could see.
 */
#ifndef WNDL_RT_HEAP_HOOK_MOZILLA_H
#define WNDL_RT_HEAP_HOOK_MOZILLA_H

#include "rt/heap/hook/imports.h"

enum { WNDL_RT_MOZILLA_FUNCTIONS = 14 };

/* For an allocator whose own calls of malloc are not seen. */
extern const struct wndl_rt_extra
    wndl_rt_mozilla_functions[WNDL_RT_MOZILLA_FUNCTIONS];

#endif
