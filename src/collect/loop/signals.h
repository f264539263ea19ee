/* SPDX-License-Identifier: MIT */
/* signals: the signals that we pass on to the command, and SIGCHLD. */
#ifndef WNDL_COLLECT_LOOP_SIGNALS_H
#define WNDL_COLLECT_LOOP_SIGNALS_H

#include "collect/loop/processes.h"

#include <signal.h>

struct wndl_signals {
    struct wndl_run *run;
    const struct wndl_processes *processes;
    int fd; /* -1: not open */
    struct wndl_source on_signal;
    pid_t bystander; /* a process of our group, see signals.c; <= 0: none */
    /* CLOCK_MONOTONIC ns of the last of each signal */
    uint64_t passed_on[_NSIG];
};

/*
 * Blocks the signals, which arrive through `fd` from now on. *before is the
 * mask that there was. False, with errno, on failure.
 */
bool wndl_signals_open(struct wndl_signals *signals, sigset_t *before);

/* Closes the descriptor and ends the bystander. */
void wndl_signals_close(struct wndl_signals *signals);

/* Reads the signals that have arrived, and handles them. */
void wndl_signals_take(struct wndl_signals *signals);

/*
 * After a fork, in the child: watches the descriptor again, since epoll reports
 * the signals of the process that added it. Forgets the bystander, which is in
 * the old process group.
 */
void wndl_signals_take_over(struct wndl_signals *signals);

#endif
