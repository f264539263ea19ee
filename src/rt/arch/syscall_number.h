/* SPDX-License-Identifier: MIT */
/*
 * syscall_number: finds which system call an instruction made. The kernel
 * leaves no trace of the number once the call has returned, but the code before
 * it shows what it put into the register. Signal-safe.
 */
#ifndef WNDL_RT_ARCH_SYSCALL_NUMBER_H
#define WNDL_RT_ARCH_SYSCALL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/*
 * The number of the call. `code` is the `size` bytes right before the
 * instruction, which may begin in the middle of another one. `context` is from
 * after the call: a number from a register is read there. -1 if the code is not
 * that plain.
 */
long wndl_rt_number(
    const uint8_t *code, size_t size, const ucontext_t *context);

/*
 * The first argument, where the number stays in its register and the result
 * replaces that argument. It is computed from plain AArch64 code before the
 * call. False if the code is not that plain.
 */
bool wndl_rt_first_argument(const uint8_t *code, size_t size,
    const ucontext_t *context, uint64_t *first);

#endif
