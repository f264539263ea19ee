/* SPDX-License-Identifier: MIT */
/*
 * new: C++'s operators new and delete of allocators that have their own. The
 * C++ library's operators call malloc and free, and are left alone. If others
 * precede them, modules' imports of those are redirected to ours.
 */
#ifndef WNDL_RT_HEAP_HOOK_NEW_H
#define WNDL_RT_HEAP_HOOK_NEW_H

#include <stdbool.h>

/* Whether the calling thread is in a delete of this block, which counts it. */
bool wndl_rt_new_is_deleting(const void *block);

#endif
