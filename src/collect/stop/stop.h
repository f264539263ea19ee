/* SPDX-License-Identifier: MIT */
/*
 * stop: stops one thread of another process for a moment (PTRACE_SEIZE and
 * PTRACE_INTERRUPT), without a signal that the process could see. All calls for
 * a thread come from one thread of ours. When that ends, the kernel lets go of
 * whatever it had asked to stop.
 */
#ifndef WNDL_COLLECT_STOP_STOP_H
#define WNDL_COLLECT_STOP_STOP_H

#include "collect/stop/regs.h"

#include <sys/types.h>

enum wndl_stop_result {
    WNDL_STOP_DONE,    /* it stands; wndl_stop_end lets it go */
    WNDL_STOP_GONE,    /* the thread has ended */
    WNDL_STOP_LATE,    /* it did not stop in time, and may stop later */
    WNDL_STOP_REFUSED, /* errno says why */
};

/* A stopped thread. `signal`: what it was about to get, or 0. */
struct wndl_stop {
    pid_t tid;
    int signal;
    uint64_t since; /* CLOCK_MONOTONIC ns: it still ran then */
};

/*
 * Stops the thread, and waits for at most `wait_ns`. Threads of ours that wait
 * for more than a moment take SIGCHLD, which they must block.
 */
enum wndl_stop_result wndl_stop_begin(
    struct wndl_stop *stop, pid_t tid, uint64_t wait_ns);

/* The result of a stop that was late, by now. */
enum wndl_stop_result wndl_stop_again(struct wndl_stop *stop);

/* Reads the registers of the stopped thread. False if it is gone. */
bool wndl_stop_regs(const struct wndl_stop *stop, uint16_t machine,
    struct wndl_thread_regs *regs);

/* Lets it go. Returns for how long it stood at most, ns. */
uint64_t wndl_stop_end(const struct wndl_stop *stop);

#endif
