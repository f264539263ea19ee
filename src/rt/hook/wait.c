/* SPDX-License-Identifier: MIT */
/*
 * wait: waiting for signals. A wait for all of them would get the engine's,
 * too, which are kept from it. The timer is parked as for any blocked call.
 */
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/sample/engine.h"
#include "rt/signals/pending.h"

#include <errno.h>
#include <sys/signalfd.h>

enum { NANOS = 1000000000 };

static uint64_t word_of(const sigset_t *set)
{
    uint64_t word;
    __builtin_memcpy(&word, set, sizeof word);
    return word;
}

static bool asks_for_ours(const sigset_t *set)
{
    return (word_of(set) & wndl_rt.signals) != 0 && wndl_rt_is_own_process();
}

static int64_t ns_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * NANOS + t->tv_nsec;
}

static struct timespec left_until(int64_t end)
{
    int64_t left = end - (int64_t)wndl_raw_clock_ns(CLOCK_MONOTONIC);
    if (left < 0)
        left = 0;
    return (struct timespec){.tv_sec = left / NANOS, .tv_nsec = left % NANOS};
}

/*
 * Waits like the real one, without the engine's signals. An overflowing
 * timeout, or none, is left to the kernel.
 */
static int wait_in_kernel(
    const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    const struct wndl_rt_real *real = wndl_rt_real();
    struct timespec left;
    bool ends = timeout != NULL && timeout->tv_sec >= 0 &&
                timeout->tv_sec < INT32_MAX && timeout->tv_nsec >= 0 &&
                timeout->tv_nsec < NANOS;
    int64_t end = (int64_t)wndl_raw_clock_ns(CLOCK_MONOTONIC);
    if (ends)
        end += ns_of(timeout);
    int number = real->sigtimedwait(set, info, timeout);
    while (number > 0 && wndl_rt_engine_sent(info)) {
        left = left_until(end);
        number = real->sigtimedwait(set, info, ends ? &left : timeout);
    }
    return number;
}

/*
 * Ours are blocked meanwhile, so that none reaches the handler. To those that
 * wait, glibc shows SI_TKILL as SI_USER.
 */
static int wait_for(
    const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    uint64_t ours = word_of(set) & wndl_rt.signals;
    uint64_t before = 0;
    siginfo_t got;
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&ours, (long)&before,
        WNDL_ARCH_SIGSET_BYTES);
    wndl_rt_pending_wait_begin(ours);
    int number = wndl_rt_pending_take(ours, &got);
    if (number == 0)
        number = wait_in_kernel(set, &got, timeout);
    wndl_rt_pending_wait_end(ours);
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0,
        WNDL_ARCH_SIGSET_BYTES);
    if (number > 0 && got.si_code == SI_TKILL)
        got.si_code = SI_USER;
    if (number > 0 && info != NULL)
        *info = got;
    return number;
}

WNDL_RT_HOOK int sigtimedwait(
    const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    if (!asks_for_ours(set))
        return wndl_rt_real()->sigtimedwait(set, info, timeout);
    return wait_for(set, info, timeout);
}

WNDL_RT_HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    if (!asks_for_ours(set))
        return wndl_rt_real()->sigwaitinfo(set, info);
    return wait_for(set, info, NULL);
}

WNDL_RT_HOOK int sigwait(const sigset_t *set, int *number)
{
    if (!asks_for_ours(set))
        return wndl_rt_real()->sigwait(set, number);
    int before = errno;
    int got;
    do
        got = wait_for(set, NULL, NULL);
    while (got < 0 && errno == EINTR);
    int why = errno;
    errno = before;
    if (got < 0)
        return why;
    *number = got;
    return 0;
}

/*
 * Such a descriptor would be reported as readable while our signal is on its
 * way to the handler.
 */
WNDL_RT_HOOK int signalfd(int fd, const sigset_t *set, int flags)
{
    /* The header declares that it is never NULL; the kernel allows it. */
    const sigset_t *volatile given = set;
    if (given == NULL || !wndl_rt_interrupts_calls() || !asks_for_ours(set))
        return wndl_rt_real()->signalfd(fd, set, flags);
    sigset_t rest = *set;
    uint64_t word = word_of(set) & ~wndl_rt.signals;
    __builtin_memcpy(&rest, &word, sizeof word);
    return wndl_rt_real()->signalfd(fd, &rest, flags);
}
