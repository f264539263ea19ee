/* SPDX-License-Identifier: MIT */
/*
 * The engine's signals, kept from the program: what it asks for is remembered
 * and told back to it, and done with signals that are not the engine's. All
 * other signals pass through.
 */
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/signals/pending.h"

/*
 * For SIGTRAP and SIGPROF. Guarded by `lock`, which is held with all signals
 * blocked. Starts as the default action: we are the first in the process to
 * ask.
 */
static struct sigaction wishes[2];
static atomic_flag lock = ATOMIC_FLAG_INIT;

static uint64_t acquire(void)
{
    uint64_t all = WNDL_RT_ALL_SIGNALS;
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
        WNDL_ARCH_SIGSET_BYTES);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
    return before;
}

static void release(uint64_t mask)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
        WNDL_ARCH_SIGSET_BYTES);
}

/*
 * A child of vfork shares this memory but has dispositions of its own, which
 * are the kernel's to keep.
 */
static bool is_kept(int number)
{
    return number > 0 && number < _NSIG &&
           (wndl_rt.signals & wndl_rt_signal_bit(number)) != 0 &&
           wndl_raw_getpid() == wndl_rt.pid;
}

static void exchange(
    int number, const struct sigaction *new, struct sigaction *old)
{
    struct sigaction *wish = &wishes[number == SIGPROF];
    uint64_t mask = acquire();
    struct sigaction before = *wish;
    if (new != NULL) {
        *wish = *new;
        wish->sa_flags |= WNDL_ARCH_SA_RESTORER; /* as the libc adds */
    }
    release(mask);
    if (old != NULL)
        *old = before;
}

static void ignore_if(int number, uint64_t set)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    if ((set & wndl_rt_signal_bit(number)) != 0)
        exchange(number, &ignore, NULL);
}

/* What is both ignored and blocked was made so by the pause before an exec. */
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
    exchange(number, NULL, &action);
    return action.sa_handler == SIG_IGN ? wndl_rt_signal_bit(number) : 0;
}

uint64_t wndl_rt_signal_ignored(void)
{
    return (ignored_bit(SIGTRAP) | ignored_bit(SIGPROF)) & wndl_rt.signals;
}

/* Another thread of the parent's may have held it. */
void wndl_rt_signal_after_fork(void)
{
    atomic_flag_clear(&lock);
    wndl_rt_held_forget();
}

/* As if the handler were not there: the program dies of the signal. */
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

/* By an instruction, which a mask does not hold back. */
static bool is_raised(int number, const siginfo_t *info)
{
    return number == SIGTRAP && info->si_code > 0;
}

/* An ignored signal that an instruction raised kills all the same. */
bool wndl_rt_signal_chain(int number, siginfo_t *info, void *ucontext)
{
    struct sigaction action;
    wndl_rt_held_arrived();
    bool is_blocked =
        (wndl_rt_mask_blocked() & wndl_rt_signal_bit(number)) != 0;
    if (is_blocked && !is_raised(number, info)) {
        wndl_rt_held_keep(number, info);
        return false;
    }
    exchange(number, NULL, &action);
    if ((action.sa_flags & SA_RESETHAND) != 0) {
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        exchange(number, &standard, NULL);
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

/* Exported by the libc, declared nowhere. */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);
sighandler_t bsd_signal(int number, sighandler_t handler);

/* Of each signal: those of ours that its handler is to be spared. */
static _Atomic uint64_t spared[_NSIG];

static uint64_t word_of(const sigset_t *set)
{
    uint64_t word;
    __builtin_memcpy(&word, set, sizeof word);
    return word;
}

static void set_word(sigset_t *set, uint64_t word)
{
    __builtin_memcpy(set, &word, sizeof word);
}

static bool has_handler(int number)
{
    struct sigaction action;
    exchange(number, NULL, &action);
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/*
 * Handlers are sampled, too; and a timer's signal that waited for one to end
 * would be taken for what interrupted a call. But a signal that the program
 * has plans for is blocked where it says so.
 */
static uint64_t not_to_wait(void)
{
    uint64_t ours = wndl_rt.signals;
    if (ours == 0 || wndl_raw_getpid() != wndl_rt.pid)
        return 0;
    if (has_handler(SIGTRAP))
        ours &= ~wndl_rt_signal_bit(SIGTRAP);
    if (has_handler(SIGPROF))
        ours &= ~wndl_rt_signal_bit(SIGPROF);
    return ours;
}

#if WNDL_ARCH_HAS_WAY_BACK

__asm__(WNDL_ARCH_WAY_BACK);
extern void wndl_rt_way_back(void) __attribute__((visibility("hidden")));

/* The libc gives each handler a way back of its own. */
static void give_way_back(int number)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {0};
    if ((wndl_rt.signals & wndl_rt_signal_bit(SIGPROF)) == 0 ||
        wndl_raw4(SYS_rt_sigaction, number, 0, (long)&action,
            WNDL_ARCH_SIGSET_BYTES) != 0 ||
        action.handler == SIG_DFL || action.handler == SIG_IGN)
        return;
    action.restorer = wndl_rt_way_back;
    (void)wndl_raw4(
        SYS_rt_sigaction, number, (long)&action, 0, WNDL_ARCH_SIGSET_BYTES);
}

#else

static void give_way_back(int number)
{
    (void)number;
}

#endif

static sighandler_t with_way_back(int number, sighandler_t before)
{
    give_way_back(number);
    return before;
}

static int pass_on(
    int number, const struct sigaction *new, struct sigaction *old)
{
    struct sigaction ours;
    if (number <= 0 || number >= _NSIG)
        return wndl_rt_real()->sigaction(number, new, old);
    uint64_t told = atomic_load(&spared[number]);
    uint64_t left_out = 0;
    if (new != NULL) {
        ours = *new;
        left_out = word_of(&new->sa_mask) & not_to_wait();
        set_word(&ours.sa_mask, word_of(&new->sa_mask) & ~left_out);
    }
    int result =
        wndl_rt_real()->sigaction(number, new == NULL ? NULL : &ours, old);
    if (result != 0)
        return result;
    if (old != NULL)
        set_word(&old->sa_mask, word_of(&old->sa_mask) | told);
    if (new == NULL)
        return 0;
    give_way_back(number);
    if (wndl_raw_getpid() == wndl_rt.pid)
        atomic_store(&spared[number], left_out);
    return 0;
}

WNDL_RT_HOOK int sigaction(
    int number, const struct sigaction *new, struct sigaction *old)
{
    if (!is_kept(number))
        return pass_on(number, new, old);
    exchange(number, new, old);
    return 0;
}

WNDL_RT_HOOK int __sigaction(
    int number, const struct sigaction *new, struct sigaction *old)
{
    return sigaction(number, new, old);
}

static sighandler_t set_kept(int number, sighandler_t handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;
    exchange(number, &new, &old);
    return old.sa_handler;
}

/* Those of ours that siginterrupt() let interrupt calls. */
static _Atomic uint64_t interrupting;

WNDL_RT_HOOK sighandler_t signal(int number, sighandler_t handler)
{
    if (!is_kept(number) || handler == SIG_ERR)
        return with_way_back(number, wndl_rt_real()->signal(number, handler));
    bool interrupts =
        (atomic_load(&interrupting) & wndl_rt_signal_bit(number)) != 0;
    return set_kept(number, handler, interrupts ? 0 : SA_RESTART);
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
        return with_way_back(
            number, wndl_rt_real()->sysv_signal(number, handler));
    return set_kept(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

WNDL_RT_HOOK sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return sysv_signal(number, handler);
}

/* Whether it was blocked before. */
static bool block_kept(int how, int number)
{
    sigset_t set = {0};
    sigset_t before = {0};
    uint64_t bit = wndl_rt_signal_bit(number);
    uint64_t was;
    __builtin_memcpy(&set, &bit, sizeof bit);
    (void)pthread_sigmask(how, &set, &before);
    __builtin_memcpy(&was, &before, sizeof was);
    return (was & bit) != 0;
}

WNDL_RT_HOOK int sighold(int number)
{
    if (!is_kept(number))
        return wndl_rt_real()->sighold(number);
    (void)block_kept(SIG_BLOCK, number);
    return 0;
}

WNDL_RT_HOOK int sigrelse(int number)
{
    if (!is_kept(number))
        return wndl_rt_real()->sigrelse(number);
    (void)block_kept(SIG_UNBLOCK, number);
    return 0;
}

WNDL_RT_HOOK sighandler_t sigset(int number, sighandler_t handler)
{
    if (!is_kept(number) || handler == SIG_ERR)
        return with_way_back(number, wndl_rt_real()->sigset(number, handler));
    struct sigaction old;
    exchange(number, NULL, &old);
    if (handler == SIG_HOLD)
        return block_kept(SIG_BLOCK, number) ? SIG_HOLD : old.sa_handler;
    (void)set_kept(number, handler, 0);
    return block_kept(SIG_UNBLOCK, number) ? SIG_HOLD : old.sa_handler;
}

WNDL_RT_HOOK int sigignore(int number)
{
    if (!is_kept(number))
        return wndl_rt_real()->sigignore(number);
    (void)set_kept(number, SIG_IGN, 0);
    return 0;
}

/* What is not seen to arrive was dropped, see held.h. */
WNDL_RT_HOOK int raise(int number)
{
    if (number != SIGPROF || !is_kept(number))
        return wndl_rt_real()->raise(number);
    unsigned before = wndl_rt_held_arrivals();
    int result = 0;
    for (int i = 0; i < WNDL_RT_HELD_TRIES && result == 0 &&
                    wndl_rt_held_arrivals() == before;
         i++)
        result = wndl_rt_real()->raise(number);
    return result;
}

WNDL_RT_HOOK int siginterrupt(int number, int flag)
{
    if (!is_kept(number))
        return wndl_rt_real()->siginterrupt(number, flag);
    struct sigaction action;
    exchange(number, NULL, &action);
    action.sa_flags &= ~SA_RESTART;
    if (flag == 0)
        action.sa_flags |= SA_RESTART;
    exchange(number, &action, NULL);
    uint64_t bit = wndl_rt_signal_bit(number);
    if (flag == 0)
        atomic_fetch_and(&interrupting, ~bit);
    else
        atomic_fetch_or(&interrupting, bit);
    return 0;
}
