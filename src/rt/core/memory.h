/* SPDX-License-Identifier: MIT */
/*
 * memory: memory of our own in the program.
 */
#ifndef WNDL_RT_CORE_MEMORY_H
#define WNDL_RT_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Zeroed memory of our own, NULL when there is none. Core dumps are the
 * program's: it stays out of them.
 */
uint8_t *wndl_rt_map_undumped(size_t size);

#endif
