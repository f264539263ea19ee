/* SPDX-License-Identifier: MIT */
/*
 * restart: continues a blocking system call that our own signal has
 * interrupted. SA_RESTART does that for most calls. For those that it excludes
 * (signal(7)), the context is changed as the kernel would.
 *
 * The rest of a relative timeout is what the kernel reports, where it does.
 * Elsewhere the call starts with its timeout again, minus the time that must
 * have passed: a sleep may become longer by an interval, never shorter.
 */
#ifndef WNDL_RT_SAMPLE_RESTART_H
#define WNDL_RT_SAMPLE_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Room for a time in the form that the call takes. */
struct wndl_rt_time {
    _Alignas(8) uint8_t bytes[16];
};

/*
 * Whether `context` is right before a call, as the kernel leaves it to restart
 * one; right after a call; after an interrupted call.
 */
bool wndl_rt_restart_is_at_call(const ucontext_t *context);
bool wndl_rt_restart_is_after_call(const ucontext_t *context);
bool wndl_rt_restart_is_due(const ucontext_t *context);

/*
 * Whether `context` is after an interrupted wait for an io_uring. That is the
 * one call that an event's signal can end, because during the wait the kernel
 * does work that raises the signal.
 */
bool wndl_rt_restart_is_due_to_event(const ucontext_t *context);

/*
 * Corrects the result of a call that two signals interrupted. The kernel lets
 * one of them decide on the call, and that may be ours where it should be the
 * program's. A call that the program's signal is to interrupt must not be
 * restarted, and one with a signal mask of its own must let that signal in. All
 * signals must be blocked.
 */
void wndl_rt_restart_yield(ucontext_t *context);

/*
 * Notes that a handler of the program's has run and returns to `context`. A
 * call that was to continue there ends, and its result is the handler's.
 */
void wndl_rt_restart_came_back(ucontext_t *context);

/*
 * Continues a transfer through a pipe or a socket that was cut short, with the
 * rest. False if the context is after another call.
 */
bool wndl_rt_restart_transfer(ucontext_t *context);

/*
 * Makes the interrupted call continue when the handler returns, `waited` ns or
 * more after its start. `rest` must live as long as the call. False if that is
 * impossible because the call is not known. A call that a signal of the
 * program's will interrupt anyway is left as it is. All signals must be
 * blocked.
 */
bool wndl_rt_restart(
    ucontext_t *context, uint64_t waited, struct wndl_rt_time *rest);

/* The same, and counts a call that cannot continue as interrupted. */
void wndl_rt_restart_or_count(
    ucontext_t *context, uint64_t waited, struct wndl_rt_time *rest);

#endif
