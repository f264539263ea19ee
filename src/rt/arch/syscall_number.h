/* SPDX-License-Identifier: MIT */
/*
 * syscall_number: which system call an instruction made. The kernel leaves no
 * trace of it once the call has returned, but the code in front of it says what
 * it put into the register. Signal-safe.
 */
#ifndef WNDL_RT_ARCH_SYSCALL_NUMBER_H
#define WNDL_RT_ARCH_SYSCALL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/*
 * `code` is what stands right before the instruction, `size` bytes that may
 * begin in the middle of another one. `context` is from after the call: a
 * number that came from a register is read there. -1 when the code is not
 * that plain.
 */
long wndl_rt_number(
    const uint8_t *code, size_t size, const ucontext_t *context);

/*
 * Where the number stays in its register the result takes the place of the
 * first argument: what that was, as plain AArch64 code in front of the call
 * has made it. False when the code is not that plain.
 */
bool wndl_rt_first_argument(const uint8_t *code, size_t size,
    const ucontext_t *context, uint64_t *first);

#endif
