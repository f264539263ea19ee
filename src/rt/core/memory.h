/* SPDX-License-Identifier: MIT */
/* memory: our own memory in the program. */
#ifndef WNDL_RT_CORE_MEMORY_H
#define WNDL_RT_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maps zeroed memory; NULL if there is none. It is left out of core dumps,
 * which are the program's.
 */
uint8_t *wndl_rt_map_undumped(size_t size);

/* Whether RLIMIT_AS limits the address space, as far as is known. */
bool wndl_rt_space_is_limited(void);

#endif
