/* SPDX-License-Identifier: MIT */
/*
 * tracee: how a process that is traced (PTRACE_SEIZE) goes on after an event,
 * which waitpid(2) has reported with `status`.
 */
#ifndef WNDL_OS_TRACEE_H
#define WNDL_OS_TRACEE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Lets a thread go on, with a signal or 0. */
static inline void wndl_tracee_continue(pid_t thread, int signal)
{
    (void)ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)signal);
}

/*
 * Whether a signal has stopped it with all its threads, so that it has to
 * stand until the next one (PTRACE_LISTEN).
 */
static inline bool wndl_tracee_is_stopped(int status)
{
    const int signal = WSTOPSIG(status);
    return status >> 16 == PTRACE_EVENT_STOP &&
           (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
               signal == SIGTTOU);
}

#endif
