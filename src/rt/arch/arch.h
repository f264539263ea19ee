/* SPDX-License-Identifier: MIT */
/*
 * arch: all that the runtime knows of its processor: the registers in a
 * signal's context, the form of a system call, the kernel's signal structures.
 * Signal-safe.
 */
#ifndef WNDL_RT_ARCH_ARCH_H
#define WNDL_RT_ARCH_ARCH_H

/* Bytes of the smallest page of these processors. */
enum { WNDL_RT_PAGE = 4096 };

#if defined(__x86_64__)
#include "rt/arch/x86_64.h"
#elif defined(__i386__)
#include "rt/arch/i386.h"
#elif defined(__aarch64__)
#include "rt/arch/aarch64.h"
#elif defined(__arm__)
#include "rt/arch/arm.h"
#else
#error "the runtime is written for x86-64, i386, AArch64 and 32-bit Arm"
#endif

#endif
