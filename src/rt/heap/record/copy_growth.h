/* SPDX-License-Identifier: MIT */
/*
 * copy_growth: which block takes the place of a smaller one, by realloc or by
 * a copy of what is in it. For a thread that is at work.
 */
#ifndef WNDL_RT_HEAP_RECORD_COPY_GROWTH_H
#define WNDL_RT_HEAP_RECORD_COPY_GROWTH_H

#include "rt/heap/record/record.h"

/* Whether the thread's last block, which is not gone, is a larger copy of this
 * other one, which is to be freed: counts that. */
void wndl_rt_heap_look_for_copy(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_block *smaller);

#endif
