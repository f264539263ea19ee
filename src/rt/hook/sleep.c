/* SPDX-License-Identifier: MIT */
/*
 * sleep: sleeping. The kernel reports the rest of an interrupted sleep. If only
 * we interrupted it, the program must not notice.
 */
#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <time.h>

static bool may_be_interrupted(const struct timespec *left)
{
    return wndl_rt_interrupts_calls() && left != NULL;
}

WNDL_RT_HOOK int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!may_be_interrupted(left))
        return wndl_rt_real()->nanosleep(time, left);
    struct timespec ours;
    int result = wndl_rt_real()->nanosleep(time, &ours);
    if (result < 0 && errno == EINTR)
        *left = ours;
    return result;
}

WNDL_RT_HOOK int clock_nanosleep(clockid_t clock, int flags,
    const struct timespec *time, struct timespec *left)
{
    if (!may_be_interrupted(left) || (flags & TIMER_ABSTIME) != 0)
        return wndl_rt_real()->clock_nanosleep(clock, flags, time, left);
    struct timespec ours;
    int result = wndl_rt_real()->clock_nanosleep(clock, flags, time, &ours);
    if (result == EINTR)
        *left = ours;
    return result;
}
