/* SPDX-License-Identifier: MIT */
/*
 * pending: signals of the numbers that are ours, sent by others while the
 * program has them blocked. In truth they are not, so they come to our handler;
 * here they are pending, one of a number for each thread and one for all of
 * them, as the kernel would have it.
 */
#ifndef WNDL_RT_SIGNALS_PENDING_H
#define WNDL_RT_SIGNALS_PENDING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel drops a signal when one of its number is on its way: one of the
 * engine's may be. What a thread sends to itself and does not see arrive is
 * sent again, at most as often as that can happen by chance.
 */
enum { WNDL_RT_PENDING_TRIES = 8 };

/* In the handler: a signal that is not the engine's came to this thread. */
void wndl_rt_pending_arrived(void);

/* How many did. */
unsigned wndl_rt_pending_arrivals(void);

/* In the handler. */
void wndl_rt_pending_add(int number, const siginfo_t *info);

/* Which are pending for the calling thread, as bits of a sigset_t. */
uint64_t wndl_rt_pending_here(void);

/* Takes one of those in `set`, also as bits. Its number, or 0. */
int wndl_rt_pending_take(uint64_t set, siginfo_t *info);

/* Those are no longer blocked: they are delivered. */
void wndl_rt_pending_deliver(uint64_t set);

/* Between these the calling thread waits for what is in `set`, which is
 * blocked in truth. */
void wndl_rt_pending_wait_begin(uint64_t set);
void wndl_rt_pending_wait_end(uint64_t set);

/* In a forked child: none is pending. */
void wndl_rt_pending_forget(void);

#endif
