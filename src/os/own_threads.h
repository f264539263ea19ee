/* SPDX-License-Identifier: MIT */
/*
 * own_threads: how many threads this process has, as the kernel counts them.
 */
#ifndef WNDL_OS_OWN_THREADS_H
#define WNDL_OS_OWN_THREADS_H

#include <stdint.h>

/* One that is about to end may be among them. 0: not known. Signal-safe. */
uint32_t wndl_own_threads_count(void);

#endif
