/* SPDX-License-Identifier: MIT */
/*
 * syscall: system calls that a program makes by syscall(3), and what the
 * hooks of the functions of the same names do about them.
 */
#ifndef WNDL_RT_HOOK_SYSCALL_H
#define WNDL_RT_HOOK_SYSCALL_H

/* No result of a call that is answered here: the kernel is to answer it. */
enum { WNDL_RT_CALL_ON = 1 };

/* A call of the signal functions, with its arguments as the kernel has them. */
struct wndl_rt_signal_call {
    int what; /* the signal, or how the mask is changed */
    const void *new;
    void *old;
    unsigned long set_bytes;
};

/* rt_sigaction(2), rt_sigprocmask(2). Return its result, or CALL_ON. */
long wndl_rt_call_sigaction(const struct wndl_rt_signal_call *call);
long wndl_rt_call_sigprocmask(const struct wndl_rt_signal_call *call);

/* The program is about to make prctl(a, b, c) or seccomp(a, b, c). */
void wndl_rt_expect_prctl(unsigned long a, unsigned long b, unsigned long c);
void wndl_rt_expect_seccomp(unsigned long a, unsigned long c);

#endif
