/* SPDX-License-Identifier: MIT */
#include "rt/sample/restart_calls.h"

#include "os/raw.h"

#include <linux/futex.h>
#include <stddef.h>
#include <time.h>

/*
 * A row of `calls`. 32-bit programs have two variants of each call with a
 * timeout. The newer one has the timeout of 64-bit programs.
 */
#define CALL(name, how, at)                                                    \
    {                                                                          \
        SYS_##name,                                                            \
        {                                                                      \
            WNDL_RT_TIMEOUT_##how, at, sizeof(long) == 8                       \
        }                                                                      \
    }
#ifdef __i386__
#define NEWER(name, how, at)                                                   \
    {                                                                          \
        SYS_##name##_time64,                                                   \
        {                                                                      \
            WNDL_RT_TIMEOUT_##how, at, true                                    \
        }                                                                      \
    }
#define TIMED(name, how, at) CALL(name, how, at), NEWER(name, how, at)
#define IS_TIMED(number, name)                                                 \
    ((number) == SYS_##name || (number) == SYS_##name##_time64)
#else
#define TIMED(name, how, at) CALL(name, how, at)
#define IS_TIMED(number, name) ((number) == SYS_##name)
#endif

static const struct {
    long number;
    struct wndl_rt_call call;
} calls[] = {
    CALL(read, AS_IS, 0),
    CALL(write, AS_IS, 0),
    CALL(readv, AS_IS, 0),
    CALL(writev, AS_IS, 0),
    CALL(accept4, AS_IS, 0),
    CALL(connect, AS_IS, 0),
    CALL(recvfrom, AS_IS, 0),
    CALL(recvmsg, AS_IS, 0),
    TIMED(recvmmsg, AS_IS, 0),
    CALL(sendto, AS_IS, 0),
    CALL(sendmsg, AS_IS, 0),
    CALL(sendmmsg, AS_IS, 0),
    CALL(rt_sigsuspend, AS_IS, 0),
    CALL(msgsnd, AS_IS, 0),
    CALL(msgrcv, AS_IS, 0),
    TIMED(pselect6, AS_IS, 0),
    TIMED(ppoll, AS_IS, 0),
    CALL(io_uring_enter, AS_IS, 0),
    CALL(futex_waitv, AS_IS, 0),
    TIMED(futex, TIMESPEC, 3),
    CALL(epoll_pwait, MS, 3),
    {SYS_epoll_pwait2, {WNDL_RT_TIMEOUT_TIMESPEC, 3, true}},
    TIMED(rt_sigtimedwait, TIMESPEC, 2),
    CALL(io_getevents, TIMESPEC, 4),
    TIMED(io_pgetevents, TIMESPEC, 4),
    CALL(nanosleep, SLEEP, 0),
    TIMED(clock_nanosleep, SLEEP, 2),
#ifdef SYS_poll
    CALL(pause, AS_IS, 0),
    CALL(poll, MS, 2),
    CALL(epoll_wait, MS, 3),
#endif
#ifdef __i386__
    CALL(socketcall, AS_IS, 0),
    CALL(ipc, AS_IS, 0),
    CALL(_newselect, AS_IS, 0),
    NEWER(semtimedop, TIMESPEC, 3),
#else
    CALL(accept, AS_IS, 0),
    CALL(semop, AS_IS, 0),
    CALL(semtimedop, TIMESPEC, 3),
#ifdef SYS_select
    CALL(select, AS_IS, 0),
#endif
#endif
};

/* Calls that SA_RESTART restarts, in addition to some of the above. */
static const long restarted[] = {
#ifdef SYS_open
    SYS_open,
#endif
    SYS_wait4, SYS_waitid, SYS_openat, SYS_fcntl, SYS_flock, SYS_mq_timedsend,
    SYS_mq_timedreceive, SYS_ioctl, SYS_getrandom, SYS_splice, SYS_sendfile};

/* For calls with both forms, the one that was requested. */
static bool is_absolute(long number, const ucontext_t *context)
{
    int flags = (int)wndl_rt_restart_argument(context, 1);
    if (IS_TIMED(number, futex))
        return (flags & FUTEX_CMD_MASK) != FUTEX_WAIT;
    return IS_TIMED(number, clock_nanosleep) && (flags & TIMER_ABSTIME) != 0;
}

bool wndl_rt_restart_find(
    long number, const ucontext_t *context, struct wndl_rt_call *call)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].number != number)
            continue;
        *call = calls[i].call;
        if (is_absolute(number, context))
            call->timeout = WNDL_RT_TIMEOUT_AS_IS;
        return true;
    }
    return false;
}

bool wndl_rt_restart_is_interruptible(long number, const ucontext_t *context)
{
    struct wndl_rt_call call;
    for (size_t i = 0; i < sizeof restarted / sizeof restarted[0]; i++) {
        if (restarted[i] == number)
            return true;
    }
    return wndl_rt_restart_find(number, context, &call);
}

static bool is_ppoll(long number)
{
#ifdef SYS_ppoll_time64
    if (number == SYS_ppoll_time64)
        return true;
#endif
    return number == SYS_ppoll;
}

static bool is_pselect(long number)
{
#ifdef SYS_pselect6_time64
    if (number == SYS_pselect6_time64)
        return true;
#endif
    return number == SYS_pselect6;
}

const uint64_t *wndl_rt_restart_mask(
    long number, const ucontext_t *context, uint64_t before)
{
    uint64_t at = 0;
    if (number == SYS_rt_sigsuspend)
        at = WNDL_ARCH_KEEPS_NUMBER ? before
                                    : wndl_rt_restart_argument(context, 0);
    else if (is_ppoll(number))
        at = wndl_rt_restart_argument(context, 3);
    else if (number == SYS_epoll_pwait || number == SYS_epoll_pwait2)
        at = wndl_rt_restart_argument(context, 4);
    else if (is_pselect(number) && wndl_rt_restart_argument(context, 5) != 0)
        at =
            *(const uintptr_t *)(uintptr_t)wndl_rt_restart_argument(context, 5);
    return (const uint64_t *)(uintptr_t)at;
}
