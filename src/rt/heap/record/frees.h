/* SPDX-License-Identifier: MIT */
/*
 * heap_deaths: the ends of blocks, beside what heap_record.h has of them. For
 * a thread that is at work.
 */
#ifndef WNDL_RT_HEAP_RECORD_FREES_H
#define WNDL_RT_HEAP_RECORD_FREES_H

#include "rt/heap/record/record.h"

/* The block is of a process before the fork. */
bool wndl_rt_death_is_inherited(const struct wndl_rt_death *death);

/* In ticks; 0 where that is not recorded. */
uint64_t wndl_rt_death_lifetime(const struct wndl_rt_block *block);

void wndl_rt_death_count(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_death *death);

#endif
