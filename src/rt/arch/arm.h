/* SPDX-License-Identifier: MIT */
/*
 * arm: arch.h's contents for programs of 32-bit Arm, EABI, whose code may
 * be ARM's or Thumb's.
 */
#ifndef WNDL_RT_ARCH_ARM_H
#define WNDL_RT_ARCH_ARM_H

#include "os/own_memory.h"
#include "os/raw.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    WNDL_ARCH_MACHINE = EM_ARM,
    WNDL_ARCH_PERF_DATA = 16,
    WNDL_ARCH_SA_RESTORER = 0x04000000,
    WNDL_ARCH_SIGSET_BYTES = 8,
    WNDL_ARCH_RED_ZONE = 0,
};

/*
 * The static TLS is after the TCB of 8 bytes. glibc's own structure of the
 * thread is before it.
 */
#define WNDL_ARCH_TLS_IS_ABOVE 1

#define WNDL_ARCH_MAY_BE_EMULATED 1

#define WNDL_ARCH_MARK UINT64_C(0x776c0000)

/* Unwinders and debuggers recognise it by "mov r7, #173; svc #0". */
#define WNDL_ARCH_RESTORER                                                     \
    ".text\n"                                                                  \
    ".syntax unified\n"                                                        \
    ".arm\n"                                                                   \
    ".p2align 4\n"                                                             \
    "nop\n"                                                                    \
    ".type wndl_rt_restorer, %function\n"                                      \
    "wndl_rt_restorer:\n"                                                      \
    "mov r7, #173\n"                                                           \
    "svc #0\n"                                                                 \
    ".size wndl_rt_restorer, . - wndl_rt_restorer\n"

/* No register is free for a mark. */
#define WNDL_ARCH_HAS_WAY_BACK 0
#define WNDL_ARCH_HAS_TRANSFER 0

/*
 * syscall(3). libc's forgets the first argument, whose register is the
 * result's. Here R8 keeps it, which none of the seven uses.
 */
#define WNDL_ARCH_HAS_SYSCALL 1
#define WNDL_ARCH_SYSCALL_FUNCTION                                             \
    ".text\n"                                                                  \
    ".syntax unified\n"                                                        \
    ".arm\n"                                                                   \
    ".p2align 4\n"                                                             \
    ".globl syscall\n"                                                         \
    ".type syscall, %function\n"                                               \
    "syscall:\n"                                                               \
    ".fnstart\n"                                                               \
    "mov r12, sp\n"                                                            \
    "push {r4-r8, lr}\n"                                                       \
    ".save {r4-r8, lr}\n"                                                      \
    "mov r7, r0\n"                                                             \
    "mov r8, r1\n"                                                             \
    "mov r1, r2\n"                                                             \
    "mov r2, r3\n"                                                             \
    "ldm r12, {r3-r6}\n"                                                       \
    "mov r0, r8\n"                                                             \
    "svc #0\n"                                                                 \
    "pop {r4-r8, lr}\n"                                                        \
    "cmn r0, #4096\n"                                                          \
    "bxcc lr\n"                                                                \
    "b wndl_rt_set_errno\n"                                                    \
    ".fnend\n"                                                                 \
    ".size syscall, . - syscall\n"

static inline int wndl_arch_argument(unsigned n)
{
    return (int)n;
}

static inline uint64_t wndl_arch_get(const ucontext_t *context, int reg)
{
    return (&context->uc_mcontext.arm_r0)[reg];
}

static inline void wndl_arch_set(ucontext_t *context, int reg, uint64_t value)
{
    (&context->uc_mcontext.arm_r0)[reg] = (unsigned long)value;
}

static inline uint64_t wndl_arch_pc(const ucontext_t *context)
{
    return context->uc_mcontext.arm_pc;
}

static inline uint64_t wndl_arch_sp(const ucontext_t *context)
{
    return context->uc_mcontext.arm_sp;
}

/* `svc #0` has 2 bytes, or 4 in ARM code; this is the minimum. */
enum { WNDL_ARCH_SYSCALL_BYTES = 2 };

static inline unsigned wndl_arch_syscall_size(const ucontext_t *context)
{
    enum { THUMB = 1 << 5 };
    return (context->uc_mcontext.arm_cpsr & THUMB) != 0 ? 2 : 4;
}

static inline bool wndl_arch_is_redone(const ucontext_t *context)
{
    (void)context;
    return false;
}

static inline bool wndl_arch_returned(const ucontext_t *context, long code)
{
    return (long)context->uc_mcontext.arm_r0 == code;
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
    context->uc_mcontext.arm_pc -= wndl_arch_syscall_size(context);
}

/* The call's number stays in its register. */
#define WNDL_ARCH_KEEPS_NUMBER 1
static inline long wndl_arch_number(const ucontext_t *context)
{
    return (long)wndl_arch_get(context, 7);
}

static inline void wndl_arch_skip(ucontext_t *context, long result)
{
    wndl_arch_set(context, 0, (uint64_t)result);
    context->uc_mcontext.arm_pc += wndl_arch_syscall_size(context);
}

/* Whether Thumb's is there, or a half of ARM's. */
static inline bool wndl_arch_is_syscall(uint64_t address)
{
    enum { THUMB_SVC = 0xdf00 };
    static const uint32_t arm_svc = 0xef000000;
    struct wndl_own_memory memory = {0};
    uint16_t halves[2];
    uint32_t word;
    if (address % 2 != 0 || !wndl_own_memory_read(&memory,
                                address & ~UINT64_C(3), halves, sizeof halves))
        return false;
    memcpy(&word, halves, sizeof word);
    return halves[address / 2 % 2] == THUMB_SVC || word == arm_svc;
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

/*
 * libc's Thumb code calls through a function of its own, "push {r7, lr}; mov
 * r7, ip; svc #0". The code before that call shows the arguments.
 */
static inline uint64_t wndl_arch_call_site(const ucontext_t *context)
{
    static const uint8_t by_function[] = {0x80, 0xb5, 0x67, 0x46, 0, 0xdf};
    enum { LR = 1, CALL = 4 };
    const uint64_t pc = wndl_arch_pc(context);
    struct wndl_own_memory memory = {0};
    uint8_t before[sizeof by_function];
    uint32_t stack[LR + 1];
    if (wndl_arch_syscall_size(context) == 2 &&
        wndl_own_memory_read(
            &memory, pc - sizeof before, before, sizeof before) &&
        memcmp(before, by_function, sizeof before) == 0 &&
        wndl_own_memory_read(
            &memory, wndl_arch_sp(context), stack, sizeof stack))
        return (stack[LR] & ~UINT32_C(1)) - CALL;
    return pc - wndl_arch_syscall_size(context);
}

static inline uint64_t wndl_arch_thread_pointer(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

/* Not every kernel lets programs read the generic timer's counter. */
#define WNDL_ARCH_TICKS_ARE_NS 1
static inline uint64_t wndl_arch_ticks(void)
{
    return wndl_raw_clock_ns(CLOCK_MONOTONIC);
}

static inline void wndl_arch_pause(void)
{
    __asm__ volatile("yield");
}

#endif
