/* SPDX-License-Identifier: MIT */
/* syscall: system calls that a program makes by syscall(3). */
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

__asm__(WNDL_ARCH_SYSCALL_FUNCTION);

#endif
