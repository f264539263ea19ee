/* SPDX-License-Identifier: MIT */
/*
 * clock: times in nanoseconds. Any thread, any signal handler. Code inside a
 * recorded program uses wndl_raw_clock_ns instead.
 */
#ifndef WNDL_OS_CLOCK_H
#define WNDL_OS_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, the clock of events and samples. */
uint64_t wndl_clock_monotonic_ns(void);

/* CLOCK_BOOTTIME, the clock of processes' starts in proc(5). */
uint64_t wndl_clock_boot_ns(void);

/* CLOCK_REALTIME, since 1970. */
uint64_t wndl_clock_realtime_ns(void);

/* CLOCK_THREAD_CPUTIME_ID, of the calling thread. */
uint64_t wndl_clock_thread_cpu_ns(void);

#endif
