/* SPDX-License-Identifier: MIT */
/*
 * traced: a program that runs under ptrace(2). Its threads run freely, but for
 * one that is stopped at times, and run one instruction at a time. Its children
 * are not traced. For x86-64.
 */
#ifndef WNDL_CLI_UNWIND_TRACED_H
#define WNDL_CLI_UNWIND_TRACED_H

#include "cfi/cfi_expr.h"

#include <sys/types.h>

struct wndl_traced {
    pid_t pid;
    uint32_t execs; /* times that it became another program */
    bool is_over;   /* it has ended */
};

/*
 * Starts a program. False, with `err`: it cannot be run (IO), or this is not
 * x86-64 (UNSUPPORTED). It is killed when this process ends.
 */
bool wndl_traced_start(
    struct wndl_traced *traced, char *const *command, struct wndl_error *err);

/* Kills it, if it has not ended, and waits for its end. */
void wndl_traced_end(struct wndl_traced *traced);

/* Lets it run for about `ns`, or until it ends. */
void wndl_traced_run(struct wndl_traced *traced, uint64_t ns);

/*
 * Stops one of its threads that is running, the one that `random` chooses, in
 * code of its own. Returns the thread, or 0: there was none.
 */
pid_t wndl_traced_stop(struct wndl_traced *traced, uint64_t random);

/* The general registers of a stopped thread, by DWARF's numbers. */
bool wndl_traced_regs(pid_t thread, struct wndl_cfi_regs *regs);

/*
 * Runs one instruction of a stopped thread. `waits`: it may take long, as a
 * system call does; then not longer than until `end` (CLOCK_MONOTONIC). False:
 * the thread has ended, runs on by itself, or got a signal, with which it runs
 * on.
 */
bool wndl_traced_step(
    struct wndl_traced *traced, pid_t thread, bool waits, uint64_t end);

/* Lets a stopped thread run on. */
void wndl_traced_continue(pid_t thread);

/*
 * Removes the flag of single steps from the flags that the last instruction of
 * a stopped thread has pushed, to `sp`: the program would set it again.
 */
void wndl_traced_hide(pid_t thread, uint64_t sp);

#endif
