/* SPDX-License-Identifier: MIT */
/*
 * i386: arch.h's contents for 32-bit programs.
 */
#ifndef WNDL_RT_ARCH_I386_H
#define WNDL_RT_ARCH_I386_H

#include "os/own_memory.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    WNDL_ARCH_MACHINE = EM_386,
    WNDL_ARCH_PERF_DATA = 16,
    WNDL_ARCH_SA_RESTORER = 0x04000000,
    WNDL_ARCH_SIGSET_BYTES = 8,
    WNDL_ARCH_SYSCALL_BYTES = 2,
    WNDL_ARCH_RED_ZONE = 0,
    WNDL_ARCH_HAS_REX = 0,
};

#define WNDL_ARCH_MARK UINT64_C(0x776c0000)

/* In libc it follows "sysenter", and the kernel returns to after it. */
#define WNDL_ARCH_SYSCALL "\xcd\x80"

#define WNDL_ARCH_RESTORER                                                     \
    ".text\n"                                                                  \
    ".p2align 4\n"                                                             \
    "nop\n"                                                                    \
    ".type wndl_rt_restorer, @function\n"                                      \
    "wndl_rt_restorer:\n"                                                      \
    "movl $173, %eax\n"                                                        \
    "int $0x80\n"                                                              \
    ".size wndl_rt_restorer, . - wndl_rt_restorer\n"

static inline int wndl_arch_argument(unsigned n)
{
    static const signed char at[] = {
        REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP};
    return at[n];
}

static inline int wndl_arch_encoded(unsigned number)
{
    static const signed char at[] = {
        -1, REG_ECX, REG_EDX, REG_EBX, REG_ESP, REG_EBP, REG_ESI, REG_EDI};
    return at[number];
}

static inline uint64_t wndl_arch_get(const ucontext_t *context, int reg)
{
    return (uint32_t)context->uc_mcontext.gregs[reg];
}

static inline void wndl_arch_set(ucontext_t *context, int reg, uint64_t value)
{
    context->uc_mcontext.gregs[reg] = (greg_t)value;
}

static inline uint64_t wndl_arch_pc(const ucontext_t *context)
{
    return wndl_arch_get(context, REG_EIP);
}

static inline uint64_t wndl_arch_sp(const ucontext_t *context)
{
    return wndl_arch_get(context, REG_ESP);
}

static inline bool wndl_arch_returned(const ucontext_t *context, long code)
{
    return context->uc_mcontext.gregs[REG_EAX] == code;
}

static inline void wndl_arch_redo(ucontext_t *context, uint64_t before)
{
    wndl_arch_set(context, REG_EAX, before);
    wndl_arch_set(
        context, REG_EIP, wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES);
}

#define WNDL_ARCH_HAS_WAY_BACK 0

static inline bool wndl_arch_is_redone(const ucontext_t *context)
{
    (void)context;
    return false;
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

/* No register is free that could keep the return address. */
#define WNDL_ARCH_HAS_SYSCALL 0
#define WNDL_ARCH_HAS_TRANSFER 0

static inline long wndl_arch_number(const ucontext_t *context)
{
    return (long)wndl_arch_get(context, REG_EAX);
}

static inline void wndl_arch_skip(ucontext_t *context, long result)
{
    wndl_arch_set(context, REG_EAX, (uint64_t)result);
    wndl_arch_set(
        context, REG_EIP, wndl_arch_pc(context) + WNDL_ARCH_SYSCALL_BYTES);
}

/* Whether `code`, of at most 8 bytes, is at `address`. */
static inline bool wndl_arch_is_code(
    uint64_t address, const void *code, size_t size)
{
    struct wndl_own_memory memory = {0};
    uint8_t found[8];
    return wndl_own_memory_read(&memory, address, found, size) &&
           memcmp(found, code, size) == 0;
}

/* libc calls through the vDSO, which has an `int` of its own for restarts. */
static inline bool wndl_arch_is_at_call(const ucontext_t *context)
{
    return wndl_arch_is_code(
        wndl_arch_pc(context), WNDL_ARCH_SYSCALL, WNDL_ARCH_SYSCALL_BYTES);
}

static inline bool wndl_arch_is_after_call(const ucontext_t *context)
{
    return wndl_arch_is_code(wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES,
        WNDL_ARCH_SYSCALL, WNDL_ARCH_SYSCALL_BYTES);
}

/*
 * libc calls the vDSO's code by "call *%gs:0x10". After the instruction that
 * has "pop %ebp; pop %edx; pop %ecx; ret". With six arguments libc calls it in
 * a function of its own, which then has "pop %ebp; pop %edi; pop %ebx; ret".
 */
static inline uint64_t wndl_arch_call_site(const ucontext_t *context)
{
    static const uint8_t way_out[] = {0x5d, 0x5a, 0x59, 0xc3};
    static const uint8_t six_out[] = {0x5d, 0x5f, 0x5b, 0xc3};
    static const uint8_t way_in[] = {0x65, 0xff, 0x15, 0x10, 0, 0, 0};
    enum { SAVED = 3, CALL = 5 };
    uint64_t pc = wndl_arch_pc(context);
    if (!wndl_arch_is_code(pc, way_out, sizeof way_out))
        return pc - WNDL_ARCH_SYSCALL_BYTES;
    struct wndl_own_memory memory = {0};
    uint32_t stack[2 * SAVED + 2];
    if (!wndl_own_memory_read(
            &memory, wndl_arch_sp(context), stack, sizeof stack))
        return 0;
    uint64_t back = stack[SAVED];
    if (!wndl_arch_is_code(back - sizeof way_in, way_in, sizeof way_in))
        return 0;
    if (wndl_arch_is_code(back, six_out, sizeof six_out))
        return stack[2 * SAVED + 1] - CALL;
    return back - sizeof way_in;
}

/* glibc's %gs:0 is the address of the TCB itself. */
static inline uint64_t wndl_arch_thread_pointer(void)
{
    uint32_t selector, tcb;
    __asm__("movl %%gs, %0" : "=r"(selector));
    if (selector == 0)
        return 0;
    __asm__ volatile("movl %%gs:0, %0" : "=r"(tcb));
    return tcb;
}

/* Whether the runtime must work in emulators. */
#define WNDL_ARCH_MAY_BE_EMULATED 0

#define WNDL_ARCH_TLS_IS_ABOVE 0
#define WNDL_ARCH_KEEPS_NUMBER 0

/* The processor's clock, which the collector reads, too. */
#define WNDL_ARCH_TICKS_ARE_NS 0
static inline uint64_t wndl_arch_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static inline void wndl_arch_pause(void)
{
    __builtin_ia32_pause();
}

#endif
