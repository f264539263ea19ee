/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_valgrind.h: what the log asks of Helgrind and DRD, below
 * windlass/memlog.h. Include that one.
 *
 * These tools know nothing of atomic instructions, and would report each word
 * that threads share by them. So they are asked to leave the log's own words
 * alone, and nothing else: races of the program's data are still found.
 */
#ifndef WINDLASS_MEMLOG_VALGRIND_H
#define WINDLASS_MEMLOG_VALGRIND_H

#include <windlass/valgrind_request.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private: races of these bytes are the log's own, and none. */
static inline void wndl_memlog_share(const void *start, size_t size)
{
    enum { HELGRIND_UNTRACKED = 0x48470127, DRD_SUPPRESSED = 0x44520002 };
    wndl_valgrind_ask(HELGRIND_UNTRACKED, (uintptr_t)start, size, 0, 0);
    wndl_valgrind_ask(DRD_SUPPRESSED, (uintptr_t)start, size, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif
