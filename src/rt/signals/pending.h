/* SPDX-License-Identifier: MIT */
/*
 * pending: signals of our numbers that others send while the program blocks
 * them. In truth they are not blocked, so they reach our handler. Here they are
 * pending, one of each number for each thread and one for the process, as in
 * the kernel.
 */
#ifndef WNDL_RT_SIGNALS_PENDING_H
#define WNDL_RT_SIGNALS_PENDING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel drops a signal if one of its number is pending, which may be the
 * engine's. A signal that a thread sends to itself and that does not arrive is
 * sent again, at most as often as that can happen by chance.
 */
enum { WNDL_RT_PENDING_TRIES = 8 };

/* For the handler: notes that a signal that is not the engine's arrived. */
void wndl_rt_pending_arrived(void);

/* The number of such signals so far. */
unsigned wndl_rt_pending_arrivals(void);

/* For the handler: makes a signal pending. */
void wndl_rt_pending_add(int number, const siginfo_t *info);

/*
 * The signals that are pending for the calling thread, as bits of a sigset_t.
 */
uint64_t wndl_rt_pending_here(void);

/* Takes one of the signals in `set`, which is bits, too. Its number, or 0. */
int wndl_rt_pending_take(uint64_t set, siginfo_t *info);

/* Delivers those of `set`, which are no longer blocked. */
void wndl_rt_pending_deliver(uint64_t set);

/*
 * Between these the calling thread waits for the signals in `set`, which are
 * blocked in truth.
 */
void wndl_rt_pending_wait_begin(uint64_t set);
void wndl_rt_pending_wait_end(uint64_t set);

/* In a forked child: none is pending. */
void wndl_rt_pending_forget(void);

#endif
