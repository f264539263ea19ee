/* SPDX-License-Identifier: MIT */
/*
 * clock: times in nanoseconds. Signal-safe: the vDSO or one bare system call.
 */
#ifndef WNDL_OS_CLOCK_H
#define WNDL_OS_CLOCK_H

#include <stdint.h>

uint64_t wndl_clock_monotonic_ns(void);
uint64_t wndl_clock_realtime_ns(void);

/* CPU time that the calling thread has used. */
uint64_t wndl_clock_thread_cpu_ns(void);

#endif
