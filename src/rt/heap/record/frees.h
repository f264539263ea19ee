/* SPDX-License-Identifier: MIT */
/*
 * frees: the common part of frees, beside record.h. For a thread that is busy.
 */
#ifndef WNDL_RT_HEAP_RECORD_FREES_H
#define WNDL_RT_HEAP_RECORD_FREES_H

#include "rt/heap/record/record.h"

/* In ticks; 0 if lifetimes are not recorded. */
uint64_t wndl_rt_free_lifetime(const struct wndl_rt_block *block);

void wndl_rt_free_count(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_free *freed);

#endif
