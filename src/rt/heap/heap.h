/* SPDX-License-Identifier: MIT */
/*
 * heap: the entry points of heap recording for the runtime's other parts. In
 * the object that leaves malloc alone they do nothing (heap_none.c).
 */
#ifndef WNDL_RT_HEAP_HEAP_H
#define WNDL_RT_HEAP_HEAP_H

#include "rec/shm.h"

#include <stdbool.h>

/* Whether this is the object that records heaps. */
bool wndl_rt_heap_is_object(void);

/* The size in bytes of the shared memory, from its start. */
size_t wndl_rt_heap_shared_size(const struct wndl_go *go);

struct wndl_regs;

/*
 * The tag for a thread that the calling thread is about to create; 0: none.
 * `regs`: those after the call that does so.
 */
uint32_t wndl_rt_heap_tag_of_start(const struct wndl_regs *regs);

/* The same at the start of that thread. */
void wndl_rt_heap_begin_tag(uint32_t tag);

/* Begins to record the process; the shared memory is mapped. */
void wndl_rt_heap_start(const struct wndl_go *go);

/* Ends the start, with or without a recording. */
void wndl_rt_heap_settle(void);

/* Called before and after the unloading of modules. */
void wndl_rt_heap_unload(bool begins);

/* The program is about to unmap the range. */
void wndl_rt_heap_unmap(const void *address, size_t size);

/* Ends the calling thread, which may still allocate. */
void wndl_rt_heap_end_thread(void);

/* Prepares for wndl_rt_is_careful() becoming true. */
void wndl_rt_heap_expect_sandbox(void);

/*
 * Stops recording the calling thread, which is about to lose the right to any
 * call.
 */
void wndl_rt_heap_stop_thread(void);

/*
 * Called around fork(), in the thread that forks. Between the first and one of
 * the others its calls of malloc are not recorded. The child is not recorded
 * until it starts again.
 */
void wndl_rt_heap_before_fork(void);
void wndl_rt_heap_after_fork_in_parent(void);
void wndl_rt_heap_after_fork_in_child(void);

#endif
