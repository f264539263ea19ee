/* SPDX-License-Identifier: MIT */
/*
 * own_threads: the number of this process's threads, as the kernel counts them.
 */
#ifndef WNDL_OS_OWN_THREADS_H
#define WNDL_OS_OWN_THREADS_H

#include <stddef.h>
#include <stdint.h>

/* It may include one that is about to end. 0: not known. Signal-safe. */
uint32_t wndl_own_threads_count(void);

/*
 * Calls `visit` with the id of each thread. `room`, of at least 512 bytes and
 * aligned to 8, is for the kernel's entries. Signal-safe.
 */
void wndl_own_threads_each(uint8_t *room, size_t size,
    void (*visit)(void *context, int tid), void *context);

#endif
