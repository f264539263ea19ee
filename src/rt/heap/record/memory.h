/* SPDX-License-Identifier: MIT */
/* memory: all memory of the process, for its recorder. */
#ifndef WNDL_RT_HEAP_RECORD_MEMORY_H
#define WNDL_RT_HEAP_RECORD_MEMORY_H

/*
 * Measures it at the end of the process, once, where files may be opened. The
 * thread has entered (enter.h), and is not in a signal handler.
 */
void wndl_rt_heap_measure_memory(void);

#endif
