/* SPDX-License-Identifier: MIT */
/*
 * mask: signal masks, without the engine's signals. Many programs block all
 * signals in their worker threads, which would then not be sampled. Each thread
 * sees the mask that it asked for.
 */
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/hook/syscall.h"
#include "rt/signals/dispositions.h"
#include "rt/signals/pending.h"

typedef int mask_function(int, const sigset_t *, sigset_t *);

static uint64_t word_of(const sigset_t *set)
{
    uint64_t word;
    __builtin_memcpy(&word, set, sizeof word);
    return word;
}

static uint64_t mask_after(int how, uint64_t blocked, uint64_t named)
{
    switch (how) {
    case SIG_BLOCK:
        return blocked | named;
    case SIG_UNBLOCK:
        return blocked & ~named;
    default:
        return named;
    }
}

/* A child of vfork shares this memory, but not this mask. */
static int set_mask(
    mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    uint64_t ours = wndl_rt.signals;
    uint64_t blocked = wndl_rt_mask_blocked();
    uint64_t named = set == NULL ? 0 : word_of(set) & ours;
    if ((named | blocked) == 0 || !wndl_rt_is_own_process())
        return real(how, set, old);
    uint64_t wanted = set == NULL ? blocked : mask_after(how, blocked, named);
    sigset_t rest = {0};
    if (set != NULL) {
        uint64_t word = word_of(set) & ~ours;
        __builtin_memcpy(&rest, &word, sizeof word);
    }
    int result = real(how, set == NULL ? NULL : &rest, old);
    if (result != 0)
        return result;
    wndl_rt_mask_remember(wanted);
    wndl_rt_pending_deliver(blocked & ~wanted);
    if (old != NULL && blocked != 0) {
        uint64_t word = word_of(old) | blocked;
        __builtin_memcpy(old, &word, sizeof word);
    }
    return 0;
}

WNDL_RT_HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return set_mask(wndl_rt_real()->sigprocmask, how, set, old);
}

WNDL_RT_HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return set_mask(wndl_rt_real()->pthread_sigmask, how, set, old);
}

/* Returns a negative error number, and knows words of the kernel's size. */
static int set_mask_bare(int how, const sigset_t *set, sigset_t *old)
{
    return (int)wndl_raw4(
        SYS_rt_sigprocmask, how, (long)set, (long)old, WNDL_ARCH_SIGSET_BYTES);
}

long wndl_rt_call_sigprocmask(const struct wndl_rt_signal_call *call)
{
    if (call->set_bytes != WNDL_ARCH_SIGSET_BYTES)
        return WNDL_RT_CALL_ON;
    return set_mask(set_mask_bare, call->what, call->new, call->old);
}

/* The first 32 signals as an int, from BSD. */
static int set_mask_by_int(int how, int mask)
{
    sigset_t set = {0};
    sigset_t old = {0};
    uint64_t word = (unsigned)mask;
    __builtin_memcpy(&set, &word, sizeof word);
    if (set_mask(wndl_rt_real()->sigprocmask, how, &set, &old) != 0)
        return -1;
    return (int)(unsigned)word_of(&old);
}

WNDL_RT_HOOK int sigblock(int mask)
{
    return set_mask_by_int(SIG_BLOCK, mask);
}

WNDL_RT_HOOK int sigsetmask(int mask)
{
    return set_mask_by_int(SIG_SETMASK, mask);
}

WNDL_RT_HOOK int siggetmask(void)
{
    return set_mask_by_int(SIG_BLOCK, 0);
}

WNDL_RT_HOOK int sigpending(sigset_t *set)
{
    int result = wndl_rt_real()->sigpending(set);
    if (result != 0 || wndl_rt.signals == 0 || !wndl_rt_is_own_process())
        return result;
    uint64_t word =
        word_of(set) | (wndl_rt_pending_here() & wndl_rt_mask_blocked());
    __builtin_memcpy(set, &word, sizeof word);
    return 0;
}
