/* SPDX-License-Identifier: MIT */
/*
 * child: processes of our own that the program does not notice. No atfork
 * handler runs, their end raises no signal, and no wait of the program's sees
 * them.
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
 * Forks. Returns 0 in the child, which may make bare system calls only and must
 * end with wndl_rt_child_exit(). Returns its id in the parent, or -errno.
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

/*
 * In the child: makes it end with the thread that made it. It would otherwise
 * keep that thread's descriptors open, and become a child of init, whom it
 * would signal at its end.
 */
static inline void wndl_rt_child_end_with(long parent)
{
    (void)wndl_raw3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
    if (wndl_raw3(SYS_getppid, 0, 0, 0) != parent)
        wndl_rt_child_exit(1);
}

/*
 * Forks like wndl_rt_child_fork(). No handler of the program's runs in the
 * child, the program's debugger does not get it, and it does not outlive the
 * calling thread. It shares the descriptors, and may neither open nor close
 * any. With descriptors of its own it would close all of them at its end, which
 * file systems notice.
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

/*
 * In the child: prevents a core dump after a fault. From then on only root can
 * open the files of /proc that show its memory.
 */
static inline void wndl_rt_child_leave_no_core(void)
{
    (void)wndl_raw3(SYS_prctl, PR_SET_DUMPABLE, 0, 0);
}

/*
 * Waits for the end of `child`. Returns the status of wait(2), or -1. A stopped
 * child is killed, because whoever stops the program's process group need not
 * continue all of it.
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
