/* SPDX-License-Identifier: MIT */
/*
 * own_memory: this process's memory, where it may not be there. Signal-safe:
 * bare system calls only.
 */
#ifndef WNDL_OS_OWN_MEMORY_H
#define WNDL_OS_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which page was last found to be readable; zeroed at first. */
struct wndl_own_memory {
    uint64_t page; /* avma; 0: none */
};

/*
 * Copies `size` bytes, at most a page, from avma `address`; false when not all
 * of them can be read. Another thread that unmaps them meanwhile is not
 * guarded against.
 */
bool wndl_own_memory_read(
    struct wndl_own_memory *memory, uint64_t address, void *to, size_t size);

#endif
