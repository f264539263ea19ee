/* SPDX-License-Identifier: MIT */
#include "os/clock.h"

#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t wndl_clock_monotonic_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

uint64_t wndl_clock_boot_ns(void)
{
    return now_ns(CLOCK_BOOTTIME);
}

uint64_t wndl_clock_realtime_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

uint64_t wndl_clock_thread_cpu_ns(void)
{
    return now_ns(CLOCK_THREAD_CPUTIME_ID);
}
