/* SPDX-License-Identifier: MIT */
/*
 * The engine's signal, kept from the program: what it asks for is remembered
 * and told back to it, and done with signals that are not the engine's. All
 * other signals pass through.
 */
#include "os/raw.h"
#include "rt/rt.h"

#include <errno.h>

enum { KERNEL_SIGSET_BYTES = 8, SA_RESTORER_FLAG = 0x04000000 };

/*
 * Guarded by `lock`, which is held with all signals blocked. Starts as the
 * default action: we are the first in the process to ask, and a signal that
 * is ignored from before may be so because of the pause before an exec.
 */
static struct sigaction wish;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static uint64_t acquire(void)
{
    uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
        KERNEL_SIGSET_BYTES);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
    return before;
}

static void release(uint64_t mask)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
    (void)wndl_raw4(
        SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, KERNEL_SIGSET_BYTES);
}

/*
 * A child of vfork shares this memory but has dispositions of its own, which
 * are the kernel's to keep.
 */
static bool is_kept(int number)
{
    return number != 0 && number == wndl_rt.signal &&
           wndl_raw_getpid() == wndl_rt.pid;
}

static void exchange(const struct sigaction *new, struct sigaction *old)
{
    uint64_t mask = acquire();
    struct sigaction before = wish;
    if (new != NULL) {
        wish = *new;
        wish.sa_flags |= SA_RESTORER_FLAG; /* as the libc adds */
    }
    release(mask);
    if (old != NULL)
        *old = before;
}

/* Another thread of the parent's may have held it. */
void wndl_rt_signal_after_fork(void)
{
    atomic_flag_clear(&lock);
}

/* As if the handler were not there: the program dies of the signal. */
static void default_action(int number)
{
    const long standard[4] = {0}; /* struct kernel_sigaction of SIG_DFL */
    (void)wndl_raw4(
        SYS_rt_sigaction, number, (long)standard, 0, KERNEL_SIGSET_BYTES);
    (void)wndl_raw3(SYS_tgkill, wndl_raw_getpid(), wndl_raw_gettid(), number);
}

static void call_handler(const struct sigaction *action, int number,
    siginfo_t *info, ucontext_t *context)
{
    uint64_t mask;
    __builtin_memcpy(&mask, &context->uc_sigmask, sizeof mask);
    uint64_t added;
    __builtin_memcpy(&added, &action->sa_mask, sizeof added);
    mask |= added;
    if ((action->sa_flags & SA_NODEFER) == 0)
        mask |= UINT64_C(1) << (number - 1);
    (void)wndl_raw4(
        SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, KERNEL_SIGSET_BYTES);
    if ((action->sa_flags & SA_SIGINFO) != 0)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
}

/* An ignored signal that an instruction raised kills all the same. */
void wndl_rt_signal_chain(int number, siginfo_t *info, void *ucontext)
{
    struct sigaction action;
    exchange(NULL, &action);
    if ((action.sa_flags & SA_RESETHAND) != 0) {
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        exchange(&standard, NULL);
    }
    bool ignored = action.sa_handler == SIG_IGN && info->si_code <= 0;
    if (ignored)
        return;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
        default_action(number);
    else
        call_handler(&action, number, info, ucontext);
}

/* Exported by the libc, declared nowhere. */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);
sighandler_t bsd_signal(int number, sighandler_t handler);

WNDL_RT_HOOK int sigaction(
    int number, const struct sigaction *new, struct sigaction *old)
{
    if (!is_kept(number))
        return wndl_rt_real()->sigaction(number, new, old);
    exchange(new, old);
    return 0;
}

WNDL_RT_HOOK int __sigaction(
    int number, const struct sigaction *new, struct sigaction *old)
{
    return sigaction(number, new, old);
}

static sighandler_t set_kept(sighandler_t handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;
    exchange(&new, &old);
    return old.sa_handler;
}

WNDL_RT_HOOK sighandler_t signal(int number, sighandler_t handler)
{
    if (!is_kept(number) || handler == SIG_ERR)
        return wndl_rt_real()->signal(number, handler);
    return set_kept(handler, SA_RESTART);
}

WNDL_RT_HOOK sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

WNDL_RT_HOOK sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

WNDL_RT_HOOK sighandler_t sysv_signal(int number, sighandler_t handler)
{
    if (!is_kept(number) || handler == SIG_ERR)
        return wndl_rt_real()->sysv_signal(number, handler);
    return set_kept(handler, (int)(SA_RESETHAND | SA_NODEFER));
}

WNDL_RT_HOOK sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return sysv_signal(number, handler);
}

/* SIG_HOLD, blocking, is not kept up for our signal. */
WNDL_RT_HOOK sighandler_t sigset(int number, sighandler_t handler)
{
    if (!is_kept(number) || handler == SIG_ERR)
        return wndl_rt_real()->sigset(number, handler);
    struct sigaction old;
    exchange(NULL, &old);
    return handler == SIG_HOLD ? old.sa_handler : set_kept(handler, 0);
}

WNDL_RT_HOOK int sigignore(int number)
{
    if (!is_kept(number))
        return wndl_rt_real()->sigignore(number);
    (void)set_kept(SIG_IGN, 0);
    return 0;
}

WNDL_RT_HOOK int siginterrupt(int number, int flag)
{
    if (!is_kept(number))
        return wndl_rt_real()->siginterrupt(number, flag);
    return 0;
}
