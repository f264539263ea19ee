/* SPDX-License-Identifier: MIT */
/*
 * dispositions: what the program asked for of the engine's signals: SIGTRAP's
 * and SIGPROF's actions, and which of the two each thread has blocked. The
 * kernel knows only ours.
 */
#ifndef WNDL_RT_SIGNALS_DISPOSITIONS_H
#define WNDL_RT_SIGNALS_DISPOSITIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the program's action of this signal is kept here. A child of vfork
 * shares this memory but has actions of its own, which the kernel keeps.
 */
bool wndl_rt_signal_is_kept(int number);

/* As sigaction(2), of a signal that is kept here. */
void wndl_rt_signal_exchange(
    int number, const struct sigaction *new, struct sigaction *old);

/*
 * Does with a signal that is not the engine's what the program asked. True when
 * a handler of the program's has run.
 */
bool wndl_rt_signal_chain(int signal, siginfo_t *info, void *ucontext);

/*
 * Takes over what the image before left: of our signals, `blocked` are. Returns
 * which of those the program is to see as blocked.
 */
uint64_t wndl_rt_signal_inherit(uint64_t blocked);

/* Those of ours that the program ignores. */
uint64_t wndl_rt_signal_ignored(void);

/* In a forked child, before anything else may ask. */
void wndl_rt_signal_after_fork(void);

/* Which of our signals the program has blocked in the calling thread. */
void wndl_rt_mask_remember(uint64_t blocked);
uint64_t wndl_rt_mask_blocked(void);

#endif
