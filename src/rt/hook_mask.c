/* SPDX-License-Identifier: MIT */
/*
 * Signal masks, without the engine's signal: many programs block all signals
 * in their worker threads, which would go unsampled. What a thread asked for
 * is told back to it.
 */
#include "os/raw.h"
#include "rt/rt.h"

static __thread bool blocked;

void wndl_rt_mask_remember(bool is_blocked)
{
    blocked = is_blocked;
}

typedef int mask_function(int, const sigset_t *, sigset_t *);

static uint64_t word_of(const sigset_t *set)
{
    uint64_t word;
    __builtin_memcpy(&word, set, sizeof word);
    return word;
}

static bool after(int how, bool named)
{
    switch (how) {
    case SIG_BLOCK:
        return blocked || named;
    case SIG_UNBLOCK:
        return blocked && !named;
    default:
        return named;
    }
}

/* A child of vfork shares this memory, not this mask. */
static int set_mask(
    mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    int number = wndl_rt.signal;
    if (number == 0)
        return real(how, set, old);
    uint64_t bit = UINT64_C(1) << (number - 1);
    bool named = set != NULL && (word_of(set) & bit) != 0;
    if ((!named && !blocked) || wndl_raw_getpid() != wndl_rt.pid)
        return real(how, set, old);
    bool told = blocked;
    bool wanted = set == NULL ? blocked : after(how, named);
    sigset_t rest = {0};
    if (set != NULL) {
        uint64_t word = word_of(set) & ~bit;
        __builtin_memcpy(&rest, &word, sizeof word);
    }
    int result = real(how, set == NULL ? NULL : &rest, old);
    if (result != 0)
        return result;
    blocked = wanted;
    if (old != NULL && told) {
        uint64_t word = word_of(old) | bit;
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
