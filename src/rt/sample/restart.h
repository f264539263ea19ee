/* SPDX-License-Identifier: MIT */
/*
 * restart: going on with a blocking system call that our own signal has
 * interrupted. SA_RESTART does that for most; for those that it leaves out
 * (signal(7)) the context is changed as the kernel would.
 *
 * What is left of a relative timeout is what the kernel says, where it does.
 * Elsewhere the call gets its time anew, less what must have passed: a sleep
 * may become longer by an interval, never shorter.
 */
#ifndef WNDL_RT_SAMPLE_RESTART_H
#define WNDL_RT_SAMPLE_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Room for a time as the call in question takes it. */
struct wndl_rt_time {
    _Alignas(8) uint8_t bytes[16];
};

/*
 * Whether `context` stands right before a call, as the kernel leaves it that
 * restarts one; right behind one; behind one that was interrupted.
 */
bool wndl_rt_restart_is_at_call(const ucontext_t *context);
bool wndl_rt_restart_is_behind_call(const ucontext_t *context);
bool wndl_rt_restart_is_due(const ucontext_t *context);

/*
 * Whether `context` stands behind an interrupted wait for an io_uring. It is
 * the one call that an event's signal can end: while it waits it does what
 * the kernel has to do before it returns, and that raises the signal.
 */
bool wndl_rt_restart_is_due_to_event(const ucontext_t *context);

/*
 * Of two signals the kernel lets one decide what becomes of a call, and it
 * may be ours that does, for another one of the program's. Sets right what
 * that makes of the call: one that the program's signal is to interrupt must
 * not be restarted, and one with a signal mask of its own must let that
 * signal in. All signals must be blocked.
 */
void wndl_rt_restart_yield(ucontext_t *context);

/*
 * A handler of the program's has run, and comes back to `context`: a call
 * that was to go on there ends, and what one returned there is the handler's.
 */
void wndl_rt_restart_came_back(ucontext_t *context);

/*
 * Makes a transfer through a pipe or a socket that was cut short go on with
 * the rest. False when the context is from behind something else.
 */
bool wndl_rt_restart_transfer(ucontext_t *context);

/*
 * Makes the interrupted call go on when the handler returns, `waited` ns
 * after its start or later. `rest` must live as long as the call. False when
 * it cannot be: what it was is not known. A call that a signal of the
 * program's is about to interrupt anyway is left as it is. All signals must
 * be blocked.
 */
bool wndl_rt_restart(
    ucontext_t *context, uint64_t waited, struct wndl_rt_time *rest);

/* The same; a call that cannot go on is counted as interrupted. */
void wndl_rt_restart_or_count(
    ucontext_t *context, uint64_t waited, struct wndl_rt_time *rest);

#endif
