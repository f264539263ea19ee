/* SPDX-License-Identifier: MIT */
/*
 * sanitizer: programs with AddressSanitizer, ThreadSanitizer and their
 * like. Each has a malloc of its own, which must not be asked for anything
 * while it starts, as when it looks up its functions and comes to us by that.
 * They look for leaks and wrong frees themselves: their heaps are left alone.
 */
#ifndef WNDL_RT_HEAP_HOOK_SANITIZER_H
#define WNDL_RT_HEAP_HOOK_SANITIZER_H

#include <stdbool.h>

/*
 * Whether the process has one. They are there from its start or never, so that
 * it is looked for once; the first call must not be a signal handler's.
 * Allocates nothing and calls nothing that might.
 */
bool wndl_rt_heap_is_sanitized(void);

#endif
