/* SPDX-License-Identifier: MIT */
/*
 * child: processes of our own, which the program does not notice: no atfork
 * handler runs, no signal tells of their end, no wait of others sees them.
 */
#ifndef WNDL_RT_CORE_CHILD_H
#define WNDL_RT_CORE_CHILD_H

#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <linux/sched.h>
#include <sys/prctl.h>
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

static inline _Noreturn void wndl_rt_child_exit(int status)
{
    for (;;)
        (void)wndl_raw3(SYS_exit_group, status, 0, 0);
}

/* In the child: the end of the thread that made it is its own, too. It would
 * keep open what that had, and have init for a parent, whom it would signal. */
static inline void wndl_rt_child_end_with(long parent)
{
    (void)wndl_raw3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
    if (wndl_raw3(SYS_getppid, 0, 0, 0) != parent)
        wndl_rt_child_exit(1);
}

/*
 * As wndl_rt_child_fork(); no handler of the program's runs in the child, no
 * debugger of the program gets it, and it does not outlive the calling thread.
 * It shares the descriptors, and may neither open nor close any: of its own it
 * would close all at its end, which file systems are told of.
 */
static inline long wndl_rt_child_fork_alone(void)
{
    const long flags[4] = {CLONE_UNTRACED | CLONE_FILES};
    uint64_t all = WNDL_RT_ALL_SIGNALS, before;
    long parent = wndl_raw_getpid();
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
        WNDL_ARCH_SIGSET_BYTES);
    long child = wndl_raw6(SYS_clone, flags, 0, 0);
    if (child == 0)
        wndl_rt_child_end_with(parent);
    else
        (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0,
            WNDL_ARCH_SIGSET_BYTES);
    return child;
}

/* In the child: a fault leaves no core. Nor can it open what shows its memory
 * any more, unless it is root's. */
static inline void wndl_rt_child_leave_no_core(void)
{
    (void)wndl_raw3(SYS_prctl, PR_SET_DUMPABLE, 0, 0);
}

/*
 * Waits for its end. Returns the status as wait(2) has it, or -1. Who stops the
 * program's process group need not let all of it go on: a child that is stopped
 * is killed.
 */
static inline int wndl_rt_child_wait(long child)
{
    for (;;) {
        int status = -1;
        long got =
            wndl_raw4(SYS_wait4, child, (long)&status, __WALL | WUNTRACED, 0);
        if (got == child && WIFSTOPPED(status))
            (void)wndl_raw3(SYS_kill, child, SIGKILL, 0);
        else if (got != -EINTR)
            return status;
    }
}

#endif
