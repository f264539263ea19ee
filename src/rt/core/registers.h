/* SPDX-License-Identifier: MIT */
/*
 * registers: asks all other threads of the process for their registers, by a
 * signal of ours. What a thread has in registers alone would otherwise be in no
 * memory that can be read.
 */
#ifndef WNDL_RT_CORE_REGISTERS_H
#define WNDL_RT_CORE_REGISTERS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include <windlass/unwind.h>

enum { WNDL_RT_REGISTER_WORDS = 36, WNDL_RT_ASKED_MOST = 1024 };

/* A thread that was asked. */
struct wndl_rt_registers {
    int tid;
    _Atomic bool answered; /* the rest is filled in */
    struct wndl_regs regs; /* where a walk of its stack starts; no gregs */
    uintptr_t words[WNDL_RT_REGISTER_WORDS]; /* the general registers, as the
                                              * first part of mcontext_t */
};

/*
 * Asks all threads but the calling one, and waits for 20 ms at most. Fills in
 * `all`, of WNDL_RT_ASKED_MOST. Returns how many were asked: a thread that
 * blocks the signal, or that waits in the kernel for a device, has not
 * answered. One thread at a time; not for signal handlers, not in sandboxes.
 */
size_t wndl_rt_registers_ask(struct wndl_rt_registers *all);

/* For the handler: whether the signal is such a question; and its answer. */
bool wndl_rt_registers_asked(const siginfo_t *info);
void wndl_rt_registers_answer(const siginfo_t *info, const ucontext_t *context);

/* In a forked child: nobody asks. */
void wndl_rt_registers_forget(void);

#endif
