/* SPDX-License-Identifier: MIT */
#include "rt/hook/syscall.h"

#include "os/raw.h"
#include "rt/arch/arch.h"

#if WNDL_ARCH_HAS_SYSCALL

#include <errno.h>

long wndl_rt_set_errno(long result) __attribute__((visibility("hidden"), used));

/* `result` is a negative error number. */
long wndl_rt_set_errno(long result)
{
    errno = (int)-result;
    return -1;
}

long wndl_rt_expect_call(long number, unsigned long a, unsigned long b,
    unsigned long c, unsigned long d)
    __attribute__((visibility("hidden"), used));

/*
 * Before one of these calls is made by syscall(3). Returns its result, or
 * CALL_ON.
 */
long wndl_rt_expect_call(long number, unsigned long a, unsigned long b,
    unsigned long c, unsigned long d)
{
    const struct wndl_rt_signal_call signals = {
        (int)a, (const void *)b, (void *)c, d};
    if (number == SYS_rt_sigaction)
        return wndl_rt_call_sigaction(&signals);
    if (number == SYS_rt_sigprocmask)
        return wndl_rt_call_sigprocmask(&signals);
    if (number == SYS_prctl)
        wndl_rt_expect_prctl(a, b, c);
    else if (number == SYS_seccomp)
        wndl_rt_expect_seccomp(a, c);
    return WNDL_RT_CALL_ON;
}

__asm__(WNDL_ARCH_SYSCALL_FUNCTION);

#endif
