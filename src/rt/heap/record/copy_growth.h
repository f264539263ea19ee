/* SPDX-License-Identifier: MIT */
/*
 * copy_growth: finds the block that replaces a smaller one, by realloc or by a
 * copy of its contents. For a thread that is busy.
 */
#ifndef WNDL_RT_HEAP_RECORD_COPY_GROWTH_H
#define WNDL_RT_HEAP_RECORD_COPY_GROWTH_H

#include "rt/heap/record/record.h"

/*
 * Counts a copy, if the thread's last block still exists and is a larger copy
 * of `smaller`, which is about to be freed.
 */
void wndl_rt_heap_look_for_copy(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_block *smaller);

#endif
