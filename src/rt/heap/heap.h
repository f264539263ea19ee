/* SPDX-License-Identifier: MIT */
/*
 * heap: what the runtime's other parts tell the recording of the heap. In the
 * object that leaves malloc alone these do nothing (heap_none.c).
 */
#ifndef WNDL_RT_HEAP_HEAP_H
#define WNDL_RT_HEAP_HEAP_H

#include "rec/shm.h"

#include <stdbool.h>

/* Bytes of the memory that is shared, from its start. */
size_t wndl_rt_heap_shared_size(const struct wndl_go *go);

/* The process begins to be recorded: the memory is mapped. */
void wndl_rt_heap_start(const struct wndl_go *go);

/* The start is over, with a recording or without. */
void wndl_rt_heap_settle(void);

/* Around the unloading of modules. */
void wndl_rt_heap_unload(bool begins);

/* The calling thread is about to end. It may still allocate. */
void wndl_rt_heap_end_thread(void);

/* wndl_rt_is_careful() is about to be true. */
void wndl_rt_heap_expect_sandbox(void);

/* No more of the calling thread: it is about to lose the right to any call. */
void wndl_rt_heap_stop_thread(void);

/*
 * Around fork(), in the thread that forks. Between the first and one of the
 * others its calls of malloc are not recorded. The child is not recorded
 * before another start.
 */
void wndl_rt_heap_before_fork(void);
void wndl_rt_heap_after_fork_in_parent(void);
void wndl_rt_heap_after_fork_in_child(void);

#endif
