/* SPDX-License-Identifier: MIT */
#include "rt/signals/dispositions.h"

#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/signals/pending.h"

/*
 * The actions of SIGTRAP and SIGPROF. Guarded by `lock`, which is held with all
 * signals blocked. They start as the default action, because no code of the
 * process has set them before us.
 */
static struct sigaction actions[2];
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* Our signals that the thread asked to block. */
static __thread uint64_t blocked_here;

void wndl_rt_mask_remember(uint64_t blocked)
{
    blocked_here = blocked;
}

uint64_t wndl_rt_mask_blocked(void)
{
    return blocked_here;
}

/* A sandbox may forbid the call. */
static void wait_a_moment(void)
{
    if (wndl_rt_is_careful())
        wndl_arch_pause();
    else
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
}

static uint64_t acquire(void)
{
    uint64_t all = WNDL_RT_ALL_SIGNALS;
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
        WNDL_ARCH_SIGSET_BYTES);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        wait_a_moment();
    return before;
}

static void release(uint64_t mask)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
        WNDL_ARCH_SIGSET_BYTES);
}

bool wndl_rt_signal_is_kept(int number)
{
    return number > 0 && number < _NSIG &&
           (wndl_rt.signals & wndl_rt_signal_bit(number)) != 0 &&
           wndl_rt_is_own_process();
}

void wndl_rt_signal_exchange(
    int number, const struct sigaction *new, struct sigaction *old)
{
    struct sigaction *kept = &actions[number == SIGPROF];
    uint64_t mask = acquire();
    struct sigaction before = *kept;
    if (new != NULL) {
        *kept = *new;
        kept->sa_flags |= WNDL_ARCH_SA_RESTORER; /* libc adds it, too */
    }
    release(mask);
    if (old != NULL)
        *old = before;
}

static void ignore_if(int number, uint64_t set)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    if ((set & wndl_rt_signal_bit(number)) != 0)
        wndl_rt_signal_exchange(number, &ignore, NULL);
}

/* A signal both ignored and blocked was made so by the pause before an exec. */
uint64_t wndl_rt_signal_inherit(uint64_t blocked)
{
    uint64_t paused = blocked & wndl_rt.ignored & wndl_rt_signal_bit(SIGTRAP);
    ignore_if(SIGTRAP, wndl_rt.ignored & ~paused);
    ignore_if(SIGPROF, wndl_rt.ignored);
    return blocked & ~paused;
}

static uint64_t ignored_bit(int number)
{
    struct sigaction action;
    wndl_rt_signal_exchange(number, NULL, &action);
    return action.sa_handler == SIG_IGN ? wndl_rt_signal_bit(number) : 0;
}

uint64_t wndl_rt_signal_ignored(void)
{
    return (ignored_bit(SIGTRAP) | ignored_bit(SIGPROF)) & wndl_rt.signals;
}

/* Another thread of the parent may have held it. */
void wndl_rt_signal_after_fork(void)
{
    atomic_flag_clear(&lock);
    wndl_rt_pending_forget();
}

/* Acts as without our handler: the program dies of the signal. */
static void default_action(int number)
{
    const long standard[8] = {0}; /* struct kernel_sigaction of SIG_DFL */
    (void)wndl_raw4(
        SYS_rt_sigaction, number, (long)standard, 0, WNDL_ARCH_SIGSET_BYTES);
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
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
        WNDL_ARCH_SIGSET_BYTES);
    if ((action->sa_flags & SA_SIGINFO) != 0)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
}

/* Raised by an instruction, which a mask does not prevent. */
static bool is_raised(int number, const siginfo_t *info)
{
    return number == SIGTRAP && info->si_code > 0;
}

/* An ignored signal that an instruction raised still kills. */
bool wndl_rt_signal_chain(int number, siginfo_t *info, void *ucontext)
{
    struct sigaction action;
    wndl_rt_pending_arrived();
    bool is_blocked =
        (wndl_rt_mask_blocked() & wndl_rt_signal_bit(number)) != 0;
    if (is_blocked && !is_raised(number, info)) {
        wndl_rt_pending_add(number, info);
        return false;
    }
    wndl_rt_signal_exchange(number, NULL, &action);
    if ((action.sa_flags & SA_RESETHAND) != 0) {
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        wndl_rt_signal_exchange(number, &standard, NULL);
    }
    bool ignored = action.sa_handler == SIG_IGN && !is_raised(number, info);
    if (ignored)
        return false;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
        is_blocked) {
        default_action(number);
        return false;
    }
    call_handler(&action, number, info, ucontext);
    return true;
}
