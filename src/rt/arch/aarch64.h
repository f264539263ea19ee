/* SPDX-License-Identifier: MIT */
/*
 * aarch64: arch.h's contents for AArch64 programs.
 */
#ifndef WNDL_RT_ARCH_AARCH64_H
#define WNDL_RT_ARCH_AARCH64_H

#include "os/own_memory.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    WNDL_ARCH_MACHINE = EM_AARCH64,
    WNDL_ARCH_PERF_DATA = 24,
    WNDL_ARCH_SA_RESTORER = 0x04000000,
    WNDL_ARCH_SIGSET_BYTES = 8,
    WNDL_ARCH_SYSCALL_BYTES = 4,
    WNDL_ARCH_RED_ZONE = 0,
};

/*
 * The static TLS is after the TCB of 16 bytes. glibc's own structure of the
 * thread is before it.
 */
#define WNDL_ARCH_TLS_IS_ABOVE 1

#define WNDL_ARCH_MAY_BE_EMULATED 1

#define WNDL_ARCH_MARK UINT64_C(0x776e646c00000000)

#define WNDL_ARCH_SYSCALL "\x01\0\0\xd4"

/* Unwinders and debuggers recognise it by "mov x8, #139; svc #0". */
#define WNDL_ARCH_RESTORER                                                     \
    ".text\n"                                                                  \
    ".p2align 4\n"                                                             \
    "nop\n"                                                                    \
    ".type wndl_rt_restorer, %function\n"                                      \
    "wndl_rt_restorer:\n"                                                      \
    "mov x8, #139\n"                                                           \
    "svc #0\n"                                                                 \
    ".size wndl_rt_restorer, . - wndl_rt_restorer\n"

/* No register is free for a mark. */
#define WNDL_ARCH_HAS_WAY_BACK 0
#define WNDL_ARCH_HAS_TRANSFER 0

/*
 * syscall(3). libc's forgets the first argument, whose register is the
 * result's. Here X7 keeps it, which none of the six uses.
 */
#define WNDL_ARCH_HAS_SYSCALL 1
#define WNDL_ARCH_SYSCALL_FUNCTION                                             \
    ".text\n"                                                                  \
    ".p2align 4\n"                                                             \
    ".globl syscall\n"                                                         \
    ".type syscall, %function\n"                                               \
    "syscall:\n"                                                               \
    ".cfi_startproc\n"                                                         \
    "uxtw x8, w0\n"                                                            \
    "mov x7, x1\n"                                                             \
    "mov x1, x2\n"                                                             \
    "mov x2, x3\n"                                                             \
    "mov x3, x4\n"                                                             \
    "mov x4, x5\n"                                                             \
    "mov x5, x6\n"                                                             \
    "mov x0, x7\n"                                                             \
    "svc #0\n"                                                                 \
    "cmn x0, #4095\n"                                                          \
    "b.cs 1f\n"                                                                \
    "ret\n"                                                                    \
    "1: b wndl_rt_set_errno\n"                                                 \
    ".cfi_endproc\n"                                                           \
    ".size syscall, . - syscall\n"

/* The registers of a system call's arguments, in order. */
static inline int wndl_arch_argument(unsigned n)
{
    return (int)n;
}

static inline uint64_t wndl_arch_get(const ucontext_t *context, int reg)
{
    return context->uc_mcontext.regs[reg];
}

static inline void wndl_arch_set(ucontext_t *context, int reg, uint64_t value)
{
    context->uc_mcontext.regs[reg] = value;
}

static inline uint64_t wndl_arch_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uint64_t wndl_arch_sp(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

static inline bool wndl_arch_is_redone(const ucontext_t *context)
{
    (void)context;
    return false;
}

static inline bool wndl_arch_returned(const ucontext_t *context, long code)
{
    return (long)wndl_arch_get(context, 0) == code;
}

static inline void wndl_arch_set_came_back(ucontext_t *context)
{
    (void)context;
}

static inline bool wndl_arch_came_back(const ucontext_t *context)
{
    (void)context;
    return false;
}

/*
 * `before` is the earlier value of the result's register: the first argument.
 */
static inline void wndl_arch_redo(ucontext_t *context, uint64_t before)
{
    wndl_arch_set(context, 0, before);
    context->uc_mcontext.pc -= WNDL_ARCH_SYSCALL_BYTES;
}

/* The call's number stays in its register. */
#define WNDL_ARCH_KEEPS_NUMBER 1
static inline long wndl_arch_number(const ucontext_t *context)
{
    return (int)wndl_arch_get(context, 8);
}

static inline void wndl_arch_skip(ucontext_t *context, long result)
{
    wndl_arch_set(context, 0, (uint64_t)result);
    context->uc_mcontext.pc += WNDL_ARCH_SYSCALL_BYTES;
}

/* Whether `svc #0` is there. False for execute-only code. */
static inline bool wndl_arch_is_syscall(uint64_t address)
{
    struct wndl_own_memory memory = {0};
    uint8_t code[WNDL_ARCH_SYSCALL_BYTES];
    return address % sizeof code == 0 &&
           wndl_own_memory_read(&memory, address, code, sizeof code) &&
           memcmp(code, WNDL_ARCH_SYSCALL, sizeof code) == 0;
}

/* The kernel leaves no trace when it restarts a call. */
static inline bool wndl_arch_is_at_call(const ucontext_t *context)
{
    return wndl_arch_is_syscall(wndl_arch_pc(context));
}

static inline bool wndl_arch_is_after_call(const ucontext_t *context)
{
    return wndl_arch_is_syscall(
        wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES);
}

static inline uint64_t wndl_arch_call_site(const ucontext_t *context)
{
    return wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES;
}

static inline uint64_t wndl_arch_thread_pointer(void)
{
    uint64_t pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

/*
 * The generic timer has the frequency that it reports, equal on all processors.
 * Emulators have it, too.
 */
#define WNDL_ARCH_TICKS_ARE_NS 1
static inline uint64_t wndl_arch_ticks(void)
{
    enum { NANOS = 1000000000 };
    uint64_t count, frequency;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
    if (frequency == 0)
        return count;
    return count / frequency * NANOS + count % frequency * NANOS / frequency;
}

static inline void wndl_arch_pause(void)
{
    __asm__ volatile("yield");
}

#endif
