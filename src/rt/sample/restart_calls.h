/* SPDX-License-Identifier: MIT */
/*
 * restart_calls: which system calls a signal may interrupt, and what of their
 * arguments is to change when they go on.
 */
#ifndef WNDL_RT_SAMPLE_RESTART_CALLS_H
#define WNDL_RT_SAMPLE_RESTART_CALLS_H

#include "rt/arch/arch.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* How a call is told how long it may take. */
enum wndl_rt_timeout {
    WNDL_RT_TIMEOUT_AS_IS = 0, /* none, absolute, or the kernel keeps it */
    WNDL_RT_TIMEOUT_MS,        /* milliseconds in an argument */
    WNDL_RT_TIMEOUT_TIMESPEC,  /* relative, behind an argument */
    WNDL_RT_TIMEOUT_SLEEP,     /* the same; the next argument is for the rest */
};

struct wndl_rt_call {
    enum wndl_rt_timeout timeout;
    unsigned argument;
    bool wide; /* the time is of 64-bit seconds and nanoseconds */
};

/*
 * Whether call `number` with the arguments in `context` is one that
 * SA_RESTART leaves out, and how it takes its timeout.
 */
bool wndl_rt_restart_find(
    long number, const ucontext_t *context, struct wndl_rt_call *call);

/* Whether a signal may interrupt a call, be it that SA_RESTART restarts it. */
bool wndl_rt_restart_is_interruptible(long number, const ucontext_t *context);

/*
 * The mask that a call sets for its time, NULL for none. `before` is what the
 * register of its result held before the call.
 */
const uint64_t *wndl_rt_restart_mask(
    long number, const ucontext_t *context, uint64_t before);

static inline uint64_t wndl_rt_restart_argument(
    const ucontext_t *context, unsigned n)
{
    return wndl_arch_get(context, wndl_arch_argument(n));
}

#endif
