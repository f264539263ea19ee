/* SPDX-License-Identifier: MIT */
/*
 * dispositions: the program's settings for the engine's signals. They are the
 * actions of SIGTRAP and SIGPROF, and which of the two each thread has blocked.
 * The kernel knows only ours.
 */
#ifndef WNDL_RT_SIGNALS_DISPOSITIONS_H
#define WNDL_RT_SIGNALS_DISPOSITIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* An action as rt_sigaction(2) has it. */
struct wndl_rt_kernel_action {
    union {
        void (*handler)(int);
        void (*informed)(int, siginfo_t *, void *);
    };
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/*
 * Whether the program's action for this signal is kept here. A child of vfork
 * shares this memory but has actions of its own, which the kernel keeps.
 */
bool wndl_rt_signal_is_kept(int number);

/* Does what sigaction(2) does, for a signal that is kept here. */
void wndl_rt_signal_exchange(
    int number, const struct sigaction *new, struct sigaction *old);

/*
 * Handles a signal that is not the engine's as the program asked. True if a
 * handler of the program's has run.
 */
bool wndl_rt_signal_chain(int signal, siginfo_t *info, void *ucontext);

/*
 * Takes over the settings of the image before this one; `blocked` are those of
 * our signals that it blocked. Returns those that the program is to see as
 * blocked.
 */
uint64_t wndl_rt_signal_inherit(uint64_t blocked);

/* Our signals that the program ignores. */
uint64_t wndl_rt_signal_ignored(void);

/* In a forked child, before any other call here. */
void wndl_rt_signal_after_fork(void);

/* Set and get those of our signals that the program blocks in this thread. */
void wndl_rt_mask_remember(uint64_t blocked);
uint64_t wndl_rt_mask_blocked(void);

#endif
