/* SPDX-License-Identifier: MIT */
/*
 * own_memory: reads this process's memory where it may be unmapped.
 * Signal-safe: bare system calls only.
 */
#ifndef WNDL_OS_OWN_MEMORY_H
#define WNDL_OS_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The page last found to be readable. Zeroed at first. */
struct wndl_own_memory {
    uint64_t page; /* avma; 0: none */
};

/*
 * Copies `size` bytes, at most a page, from avma `address`. False if not all of
 * them can be read. It does not guard against another thread that unmaps them
 * meanwhile.
 */
bool wndl_own_memory_read(
    struct wndl_own_memory *memory, uint64_t address, void *to, size_t size);

#endif
