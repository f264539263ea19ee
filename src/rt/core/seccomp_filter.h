/* SPDX-License-Identifier: MIT */
/*
 * seccomp_filter: a sandbox's filter of system calls, run as the kernel runs it
 * (seccomp(2)).
 */
#ifndef WNDL_RT_CORE_SECCOMP_FILTER_H
#define WNDL_RT_CORE_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>

/*
 * Whether `program` lets `call` through. False also for a program that the
 * kernel would refuse.
 */
bool wndl_rt_seccomp_allows(
    const struct sock_fprog *program, const struct seccomp_data *call);

#endif
