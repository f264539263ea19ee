/* SPDX-License-Identifier: MIT */
/*
 * new: C++'s operators new and delete of allocators that bring their own. The
 * C++ library's call malloc and free, and are left alone: where others stand
 * before them, modules' imports of those are led to ours.
 */
#ifndef WNDL_RT_HEAP_HOOK_NEW_H
#define WNDL_RT_HEAP_HOOK_NEW_H

#include <stdbool.h>

/* Whether the calling thread is in a delete of this: it is counted there. */
bool wndl_rt_new_is_deleting(const void *block);

#endif
