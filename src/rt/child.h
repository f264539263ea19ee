/* SPDX-License-Identifier: MIT */
/*
 * child: processes of our own, which the program does not notice: no atfork
 * handler runs, no signal tells of their end, no wait of others sees them.
 */
#ifndef WNDL_RT_CHILD_H
#define WNDL_RT_CHILD_H

#include "os/raw.h"

#include <sys/wait.h>

/*
 * Forks. Returns 0 in the child, which may make bare system calls only and
 * must end with wndl_rt_child_exit(); in the parent its id, or -errno.
 */
static inline long wndl_rt_child_fork(void)
{
    const long no_signal[4] = {0};
    return wndl_raw6(SYS_clone, no_signal, 0, 0);
}

/* Waits for its end. Returns the status as wait(2) has it, or -1. */
static inline int wndl_rt_child_wait(long child)
{
    int status = -1;
    (void)wndl_raw4(SYS_wait4, child, (long)&status, __WALL, 0);
    return status;
}

static inline _Noreturn void wndl_rt_child_exit(int status)
{
    for (;;)
        (void)wndl_raw3(SYS_exit_group, status, 0, 0);
}

#endif
