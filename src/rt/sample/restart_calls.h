/* SPDX-License-Identifier: MIT */
/*
 * restart_calls: the system calls that a signal may interrupt, and the
 * arguments that change when they continue.
 */
#ifndef WNDL_RT_SAMPLE_RESTART_CALLS_H
#define WNDL_RT_SAMPLE_RESTART_CALLS_H

#include "rt/arch/arch.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* The form in which a call takes its timeout. */
enum wndl_rt_timeout {
    WNDL_RT_TIMEOUT_AS_IS = 0, /* none, absolute, or kept by the kernel */
    WNDL_RT_TIMEOUT_MS,        /* milliseconds in an argument */
    WNDL_RT_TIMEOUT_TIMESPEC,  /* relative; an argument points to it */
    WNDL_RT_TIMEOUT_SLEEP,     /* the same; the next argument receives the
                                * rest */
};

struct wndl_rt_call {
    enum wndl_rt_timeout timeout;
    unsigned argument;
    bool wide; /* the time has 64-bit seconds and nanoseconds */
};

/*
 * Whether SA_RESTART excludes call `number` with the arguments in `context`,
 * and how the call takes its timeout.
 */
bool wndl_rt_restart_find(
    long number, const ucontext_t *context, struct wndl_rt_call *call);

/* Whether a signal may interrupt a call, even if SA_RESTART restarts it. */
bool wndl_rt_restart_is_interruptible(long number, const ucontext_t *context);

/*
 * The signal mask that a call sets while it runs, NULL for none. `before` is
 * the value of its result register before the call.
 */
const uint64_t *wndl_rt_restart_mask(
    long number, const ucontext_t *context, uint64_t before);

static inline uint64_t wndl_rt_restart_argument(
    const ucontext_t *context, unsigned n)
{
    return wndl_arch_get(context, wndl_arch_argument(n));
}

#endif
