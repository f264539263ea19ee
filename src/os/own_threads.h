/* SPDX-License-Identifier: MIT */
/*
 * own_threads: the number of this process's threads, as the kernel counts them.
 */
#ifndef WNDL_OS_OWN_THREADS_H
#define WNDL_OS_OWN_THREADS_H

#include <stdint.h>

/* It may include one that is about to end. 0: not known. Signal-safe. */
uint32_t wndl_own_threads_count(void);

#endif
