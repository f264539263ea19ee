/* SPDX-License-Identifier: MIT */
/*
 * signal: actions of signals. Those of the engine's signals are kept from the
 * kernel (signals/dispositions.h). All others pass through.
 */
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/hook/syscall.h"
#include "rt/signals/dispositions.h"
#include "rt/signals/pending.h"

/* Exported by libc, but declared nowhere. */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);
sighandler_t bsd_signal(int number, sighandler_t handler);

/* For each signal, our signals that are blocked in its handler. */
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
    wndl_rt_signal_exchange(number, NULL, &action);
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/*
 * Handlers are sampled, too. A timer's signal that waited for the end of one
 * would be taken for one that interrupted a call. A signal that the program
 * handles itself is blocked as it asks.
 */
static uint64_t not_to_wait(void)
{
    uint64_t ours = wndl_rt.signals;
    if (ours == 0 || !wndl_rt_is_own_process())
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

/* libc gives each handler its own restorer. */
static void give_way_back(int number)
{
    struct wndl_rt_kernel_action action = {0};
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
    uint64_t hidden = atomic_load(&spared[number]);
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
        set_word(&old->sa_mask, word_of(&old->sa_mask) | hidden);
    if (new == NULL)
        return 0;
    give_way_back(number);
    if (wndl_rt_is_own_process())
        atomic_store(&spared[number], left_out);
    return 0;
}

WNDL_RT_HOOK int sigaction(
    int number, const struct sigaction *new, struct sigaction *old)
{
    if (!wndl_rt_signal_is_kept(number))
        return pass_on(number, new, old);
    wndl_rt_signal_exchange(number, new, old);
    return 0;
}

long wndl_rt_call_sigaction(const struct wndl_rt_signal_call *call)
{
    const struct wndl_rt_kernel_action *asked = call->new;
    struct wndl_rt_kernel_action *was = call->old;
    struct sigaction new = {0}, old;
    if (call->set_bytes != WNDL_ARCH_SIGSET_BYTES ||
        !wndl_rt_signal_is_kept(call->what))
        return WNDL_RT_CALL_ON;
    if (asked != NULL) {
        new.sa_handler = asked->handler;
        new.sa_flags = (int)asked->flags;
        set_word(&new.sa_mask, asked->mask);
    }
    wndl_rt_signal_exchange(call->what, asked == NULL ? NULL : &new, &old);
    if (was != NULL)
        *was = (struct wndl_rt_kernel_action){.handler = old.sa_handler,
            .flags = (unsigned)old.sa_flags & ~(unsigned)WNDL_ARCH_SA_RESTORER,
            .mask = word_of(&old.sa_mask)};
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
    wndl_rt_signal_exchange(number, &new, &old);
    return old.sa_handler;
}

/* Our signals that interrupt calls, by siginterrupt(). */
static _Atomic uint64_t interrupting;

WNDL_RT_HOOK sighandler_t signal(int number, sighandler_t handler)
{
    if (!wndl_rt_signal_is_kept(number) || handler == SIG_ERR)
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
    if (!wndl_rt_signal_is_kept(number) || handler == SIG_ERR)
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
    if (!wndl_rt_signal_is_kept(number))
        return wndl_rt_real()->sighold(number);
    (void)block_kept(SIG_BLOCK, number);
    return 0;
}

WNDL_RT_HOOK int sigrelse(int number)
{
    if (!wndl_rt_signal_is_kept(number))
        return wndl_rt_real()->sigrelse(number);
    (void)block_kept(SIG_UNBLOCK, number);
    return 0;
}

WNDL_RT_HOOK sighandler_t sigset(int number, sighandler_t handler)
{
    if (!wndl_rt_signal_is_kept(number) || handler == SIG_ERR)
        return with_way_back(number, wndl_rt_real()->sigset(number, handler));
    struct sigaction old;
    wndl_rt_signal_exchange(number, NULL, &old);
    if (handler == SIG_HOLD)
        return block_kept(SIG_BLOCK, number) ? SIG_HOLD : old.sa_handler;
    (void)set_kept(number, handler, 0);
    return block_kept(SIG_UNBLOCK, number) ? SIG_HOLD : old.sa_handler;
}

WNDL_RT_HOOK int sigignore(int number)
{
    if (!wndl_rt_signal_is_kept(number))
        return wndl_rt_real()->sigignore(number);
    (void)set_kept(number, SIG_IGN, 0);
    return 0;
}

/* A signal that does not arrive was dropped: signals/pending.h. */
WNDL_RT_HOOK int raise(int number)
{
    if (number != SIGPROF || !wndl_rt_signal_is_kept(number))
        return wndl_rt_real()->raise(number);
    unsigned before = wndl_rt_pending_arrivals();
    int result = 0;
    for (int i = 0; i < WNDL_RT_PENDING_TRIES && result == 0 &&
                    wndl_rt_pending_arrivals() == before;
         i++)
        result = wndl_rt_real()->raise(number);
    return result;
}

WNDL_RT_HOOK int siginterrupt(int number, int flag)
{
    if (!wndl_rt_signal_is_kept(number))
        return wndl_rt_real()->siginterrupt(number, flag);
    struct sigaction action;
    wndl_rt_signal_exchange(number, NULL, &action);
    action.sa_flags &= ~SA_RESTART;
    if (flag == 0)
        action.sa_flags |= SA_RESTART;
    wndl_rt_signal_exchange(number, &action, NULL);
    uint64_t bit = wndl_rt_signal_bit(number);
    if (flag == 0)
        atomic_fetch_and(&interrupting, ~bit);
    else
        atomic_fetch_or(&interrupting, bit);
    return 0;
}
