/* SPDX-License-Identifier: MIT */
/*
 * sanitizer: programs with AddressSanitizer, ThreadSanitizer and the like. Each
 * has its own malloc, which must not be called while it starts, as when it
 * looks up its functions and thereby reaches us. Sanitizers report leaks and
 * wrong frees themselves, so their heaps are left alone.
 */
#ifndef WNDL_RT_HEAP_HOOK_SANITIZER_H
#define WNDL_RT_HEAP_HOOK_SANITIZER_H

#include <stdbool.h>

/*
 * Whether the process has a sanitizer. It has one from its start or never, so
 * that the first call decides. That must not be in a signal handler. Allocates
 * nothing and calls nothing that might.
 */
bool wndl_rt_heap_is_sanitized(void);

#endif
