/* SPDX-License-Identifier: MIT */
/*
 * signals: what we pass on to the command, and SIGCHLD.
 */
#ifndef WNDL_COLLECT_LOOP_SIGNALS_H
#define WNDL_COLLECT_LOOP_SIGNALS_H

#include "collect/loop/processes.h"

#include <signal.h>

struct wndl_signals {
    struct wndl_run *run;
    const struct wndl_processes *processes;
    int fd; /* -1: not open */
    struct wndl_source on_signal;
    pid_t bystander;           /* signals.c; <= 0: none */
    uint64_t passed_on[_NSIG]; /* when each signal last was */
};

/* They come through `fd` from now on. */
bool wndl_signals_open(struct wndl_signals *signals, sigset_t *before);

void wndl_signals_close(struct wndl_signals *signals);

/* A signal is there to be read. */
void wndl_signals_take(struct wndl_signals *signals);

/* After a fork: a poll hears of the signals of the process that put them in,
 * and the bystander is in the group that was left. */
void wndl_signals_take_over(struct wndl_signals *signals);

#endif
