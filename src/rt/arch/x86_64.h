/* SPDX-License-Identifier: MIT */
/*
 * x86_64: arch.h's contents for 64-bit programs of x86.
 */
#ifndef WNDL_RT_ARCH_X86_64_H
#define WNDL_RT_ARCH_X86_64_H

#include "os/own_memory.h"
#include "os/raw.h"

#include <asm/hwcap2.h>
#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum {
    WNDL_ARCH_MACHINE = EM_X86_64,      /* in ELF headers */
    WNDL_ARCH_PERF_DATA = 24,           /* si_perf_data in siginfo_t */
    WNDL_ARCH_SA_RESTORER = 0x04000000, /* a flag of rt_sigaction */
    WNDL_ARCH_SIGSET_BYTES = 8,         /* the kernel's sigset_t */
    WNDL_ARCH_SYSCALL_BYTES = 2,        /* of the instruction */
    WNDL_ARCH_RED_ZONE = 128,
    WNDL_ARCH_HAS_REX = 1, /* bytes 0x40 to 0x4f are prefixes */
};

/*
 * The upper half of a value that marks our timers. The room below distinguishes
 * them.
 */
#define WNDL_ARCH_MARK UINT64_C(0x776e646c00000000)

#define WNDL_ARCH_SYSCALL "\x0f\x05"

/*
 * The code by whose bytes debuggers and unwinders recognise a signal frame. It
 * belongs where wndl_rt_restorer is defined.
 */
#define WNDL_ARCH_RESTORER                                                     \
    ".text\n"                                                                  \
    ".p2align 4\n"                                                             \
    "nop\n"                                                                    \
    ".type wndl_rt_restorer, @function\n"                                      \
    "wndl_rt_restorer:\n"                                                      \
    "mov $15, %rax\n"                                                          \
    "syscall\n"                                                                \
    ".size wndl_rt_restorer, . - wndl_rt_restorer\n"

/*
 * A restorer for handlers of the program's, like libc's, that leaves a mark if
 * it returns to just after a system call, according to the registers that
 * `syscall` sets. Code may be unreadable. The mark is in rcx, which a call does
 * not preserve, and in which it leaves its own address. It distinguishes a
 * result that the handler has caused from one that has just arrived. A call
 * that was to continue, and has not yet, has another mark: it ends, as the
 * handler would have ended it. The kernel's ucontext_t is at the stack pointer;
 * unwinders use the CFI, which has each register's place in it. People know it
 * by libc's name.
 */
#define WNDL_ARCH_CAME_BACK UINT64_C(0x776e646c6261636b)
#define WNDL_ARCH_REDONE UINT64_C(0x776e646c7265646f)
#define WNDL_ARCH_HAS_WAY_BACK 1
#define WNDL_ARCH_WAY_BACK                                                     \
    ".text\n"                                                                  \
    ".p2align 4\n"                                                             \
    ".type __restore_rt, @function\n"                                          \
    ".cfi_startproc simple\n"                                                  \
    ".cfi_signal_frame\n"                                                      \
    ".cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n"                            \
    ".cfi_escape 0x10, 0, 3, 0x77, 0x90, 0x01\n"                               \
    ".cfi_escape 0x10, 1, 3, 0x77, 0x88, 0x01\n"                               \
    ".cfi_escape 0x10, 2, 3, 0x77, 0x98, 0x01\n"                               \
    ".cfi_escape 0x10, 3, 3, 0x77, 0x80, 0x01\n"                               \
    ".cfi_escape 0x10, 4, 3, 0x77, 0xf0, 0x00\n"                               \
    ".cfi_escape 0x10, 5, 3, 0x77, 0xe8, 0x00\n"                               \
    ".cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00\n"                               \
    ".cfi_escape 0x10, 7, 3, 0x77, 0xa0, 0x01\n"                               \
    ".cfi_escape 0x10, 8, 3, 0x77, 0xa8, 0x00\n"                               \
    ".cfi_escape 0x10, 9, 3, 0x77, 0xb0, 0x00\n"                               \
    ".cfi_escape 0x10, 10, 3, 0x77, 0xb8, 0x00\n"                              \
    ".cfi_escape 0x10, 11, 3, 0x77, 0xc0, 0x00\n"                              \
    ".cfi_escape 0x10, 12, 3, 0x77, 0xc8, 0x00\n"                              \
    ".cfi_escape 0x10, 13, 3, 0x77, 0xd0, 0x00\n"                              \
    ".cfi_escape 0x10, 14, 3, 0x77, 0xd8, 0x00\n"                              \
    ".cfi_escape 0x10, 15, 3, 0x77, 0xe0, 0x00\n"                              \
    ".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01\n"                              \
    "__restore_rt: nop\n"                                                      \
    "wndl_rt_way_back:\n"                                                      \
    "mov 168(%rsp), %rax\n"                                                    \
    "movabs $0x776e646c7265646f, %rcx\n"                                       \
    "cmp %rcx, 152(%rsp)\n"                                                    \
    "jne 0f\n"                                                                 \
    "movq $-4, 144(%rsp)\n" /* rax: -EINTR */                                  \
    "addq $2, 168(%rsp)\n"                                                     \
    "jmp 2f\n"                                                                 \
    "0: cmp %rax, 152(%rsp)\n"                                                 \
    "jne 1f\n"                                                                 \
    "mov 64(%rsp), %rcx\n" /* r11: the flags before the call */                \
    "cmp %rcx, 176(%rsp)\n"                                                    \
    "jne 1f\n"                                                                 \
    "2: movabs $0x776e646c6261636b, %rax\n"                                    \
    "mov %rax, 152(%rsp)\n"                                                    \
    "1: mov $15, %rax\n"                                                       \
    "syscall\n"                                                                \
    ".cfi_endproc\n"                                                           \
    ".size __restore_rt, . - __restore_rt\n"

/*
 * Code that continues a transfer that was cut short. It repeats the call for
 * the rest until that is complete or fails, and then returns the sum as if it
 * was one call. It begins with the registers of the call for the rest, the sum
 * so far in r11 and the address to return to in rcx. It keeps below the red
 * zone, from the stack pointer up: that address, the sum, the number.
 */
#define WNDL_ARCH_HAS_TRANSFER 1
#define WNDL_ARCH_TRANSFER                                                     \
    ".text\n"                                                                  \
    ".type wndl_rt_transfer, @function\n"                                      \
    "wndl_rt_transfer:\n"                                                      \
    ".cfi_startproc\n"                                                         \
    ".cfi_def_cfa %rsp, 0\n"                                                   \
    ".cfi_register %rip, %rcx\n"                                               \
    "lea -152(%rsp), %rsp\n"                                                   \
    ".cfi_def_cfa_offset 152\n"                                                \
    "mov %rcx, (%rsp)\n"                                                       \
    ".cfi_offset %rip, -152\n"                                                 \
    "mov %r11, 8(%rsp)\n"                                                      \
    "mov %rax, 16(%rsp)\n"                                                     \
    "1: syscall\n"                                                             \
    "test %rax, %rax\n"                                                        \
    "jle 2f\n"                                                                 \
    "add %rax, 8(%rsp)\n"                                                      \
    "add %rax, %rsi\n"                                                         \
    "sub %rax, %rdx\n"                                                         \
    "jbe 2f\n"                                                                 \
    "mov 16(%rsp), %rax\n"                                                     \
    "jmp 1b\n"                                                                 \
    "2: mov 8(%rsp), %rax\n"                                                   \
    "sub %rax, %rsi\n"                                                         \
    "add %rax, %rdx\n"                                                         \
    "mov (%rsp), %rcx\n"                                                       \
    ".cfi_register %rip, %rcx\n"                                               \
    "lea 152(%rsp), %rsp\n"                                                    \
    ".cfi_def_cfa_offset 0\n"                                                  \
    "jmp *%rcx\n"                                                              \
    ".cfi_endproc\n"                                                           \
    ".size wndl_rt_transfer, . - wndl_rt_transfer\n"                           \
    "wndl_rt_transfer_end:\n"

/*
 * syscall(3). libc's forgets the number. Here RBX keeps it, until after a last
 * instruction from which rt/arch/syscall_number.h reads it, so that an
 * interrupted call can continue. Calls after which two threads return on one
 * stack do not use the stack, like libc's.
 */
#define WNDL_ARCH_HAS_SYSCALL 1
#define WNDL_ARCH_SYSCALL_ARGUMENTS                                            \
    "mov %rsi, %rdi\n"                                                         \
    "mov %rdx, %rsi\n"                                                         \
    "mov %rcx, %rdx\n"                                                         \
    "mov %r8, %r10\n"                                                          \
    "mov %r9, %r8\n"
#define WNDL_ARCH_SYSCALL_FUNCTION                                             \
    ".text\n"                                                                  \
    ".p2align 4\n"                                                             \
    ".globl syscall\n"                                                         \
    ".type syscall, @function\n"                                               \
    "syscall:\n"                                                               \
    ".cfi_startproc\n"                                                         \
    "cmp $56, %edi\n" /* clone */                                              \
    "je 1f\n"                                                                  \
    "cmp $58, %edi\n" /* vfork */                                              \
    "je 1f\n"                                                                  \
    "cmp $435, %edi\n" /* clone3 */                                            \
    "je 1f\n"                                                                  \
    "cmp $13, %edi\n" /* rt_sigaction */                                       \
    "je 4f\n"                                                                  \
    "cmp $14, %edi\n" /* rt_sigprocmask */                                     \
    "je 4f\n"                                                                  \
    "cmp $157, %edi\n" /* prctl */                                             \
    "je 4f\n"                                                                  \
    "cmp $317, %edi\n" /* seccomp */                                           \
    "je 4f\n"                                                                  \
    "0: push %rbx\n"                                                           \
    ".cfi_adjust_cfa_offset 8\n"                                               \
    ".cfi_rel_offset %rbx, 0\n"                                                \
    "mov %rdi, %rbx\n" WNDL_ARCH_SYSCALL_ARGUMENTS "mov 16(%rsp), %r9\n"       \
    "mov %rbx, %rax\n"                                                         \
    "syscall\n"                                                                \
    "pop %rbx\n"                                                               \
    ".cfi_adjust_cfa_offset -8\n"                                              \
    ".cfi_restore %rbx\n"                                                      \
    "jmp 2f\n"                                                                 \
    "1: mov %rdi, %rax\n" WNDL_ARCH_SYSCALL_ARGUMENTS "mov 8(%rsp), %r9\n"     \
    "syscall\n"                                                                \
    "2: cmp $-4095, %rax\n"                                                    \
    "jae 3f\n"                                                                 \
    "ret\n"                                                                    \
    "3: mov %rax, %rdi\n"                                                      \
    "jmp wndl_rt_set_errno\n"                                                  \
    "4: push %rdi\n"                                                           \
    "push %rsi\n"                                                              \
    "push %rdx\n"                                                              \
    "push %rcx\n"                                                              \
    "push %r8\n"                                                               \
    "push %r9\n"                                                               \
    "sub $8, %rsp\n"                                                           \
    ".cfi_adjust_cfa_offset 56\n"                                              \
    "call wndl_rt_expect_call\n"                                               \
    "add $8, %rsp\n"                                                           \
    "pop %r9\n"                                                                \
    "pop %r8\n"                                                                \
    "pop %rcx\n"                                                               \
    "pop %rdx\n"                                                               \
    "pop %rsi\n"                                                               \
    "pop %rdi\n"                                                               \
    ".cfi_adjust_cfa_offset -56\n"                                             \
    "cmp $1, %rax\n" /* WNDL_RT_CALL_ON */                                     \
    "je 0b\n"                                                                  \
    "jmp 2b\n"                                                                 \
    ".cfi_endproc\n"                                                           \
    ".size syscall, . - syscall\n"

/* The registers of a system call's arguments, in order, as indices of gregs. */
static inline int wndl_arch_argument(unsigned n)
{
    static const signed char at[] = {
        REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    return at[n];
}

/*
 * The register that an instruction encodes as `number`; -1 for one that a
 * system call does not preserve.
 */
static inline int wndl_arch_encoded(unsigned number)
{
    static const signed char at[] = {-1, -1, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
        REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, -1, REG_R12, REG_R13,
        REG_R14, REG_R15};
    return at[number];
}

static inline uint64_t wndl_arch_get(const ucontext_t *context, int reg)
{
    return (uint64_t)context->uc_mcontext.gregs[reg];
}

static inline void wndl_arch_set(ucontext_t *context, int reg, uint64_t value)
{
    context->uc_mcontext.gregs[reg] = (greg_t)value;
}

static inline uint64_t wndl_arch_pc(const ucontext_t *context)
{
    return wndl_arch_get(context, REG_RIP);
}

static inline uint64_t wndl_arch_sp(const ucontext_t *context)
{
    return wndl_arch_get(context, REG_RSP);
}

/* Whether the call at the context must continue, and has not yet. */
static inline bool wndl_arch_is_redone(const ucontext_t *context)
{
    return wndl_arch_get(context, REG_RCX) == WNDL_ARCH_REDONE;
}

/*
 * Whether the last `syscall` left `address` as its return address. It leaves
 * that in RCX and the flags in R11. Other code does not come to have both: an
 * indirect jump may leave its target in RCX.
 */
static inline bool wndl_arch_syscall_left(
    const ucontext_t *context, uint64_t address)
{
    return wndl_arch_get(context, REG_RCX) == address &&
           wndl_arch_get(context, REG_R11) == wndl_arch_get(context, REG_EFL);
}

/*
 * Whether the context is right before a call that was made before. The kernel
 * keeps RCX when it restarts a call.
 */
static inline bool wndl_arch_is_at_call(const ucontext_t *context)
{
    return wndl_arch_is_redone(context) ||
           wndl_arch_syscall_left(
               context, wndl_arch_pc(context) + WNDL_ARCH_SYSCALL_BYTES);
}

/* Whether a call that has just returned has the result `code`, an -errno. */
static inline bool wndl_arch_returned(const ucontext_t *context, long code)
{
    return context->uc_mcontext.gregs[REG_RAX] == code;
}

/* The result of a call that has just returned. */
static inline long wndl_arch_result(const ucontext_t *context)
{
    return (long)context->uc_mcontext.gregs[REG_RAX];
}

/*
 * Enters WNDL_ARCH_TRANSFER for call `number`, of which `done` bytes are
 * complete.
 */
static inline void wndl_arch_transfer(
    ucontext_t *context, uint64_t code, long number, uint64_t done)
{
    wndl_arch_set(context, REG_RCX, wndl_arch_get(context, REG_RIP));
    wndl_arch_set(context, REG_R11, done);
    wndl_arch_set(context, REG_RSI, wndl_arch_get(context, REG_RSI) + done);
    wndl_arch_set(context, REG_RDX, wndl_arch_get(context, REG_RDX) - done);
    wndl_arch_set(context, REG_RAX, (uint64_t)number);
    wndl_arch_set(context, REG_RIP, code);
}

/* Marks that a handler of the program's has returned to after a call. */
static inline void wndl_arch_set_came_back(ucontext_t *context)
{
    if (wndl_arch_syscall_left(context, wndl_arch_pc(context)))
        wndl_arch_set(context, REG_RCX, WNDL_ARCH_CAME_BACK);
}

/* Whether that mark is there. */
static inline bool wndl_arch_came_back(const ucontext_t *context)
{
    return wndl_arch_get(context, REG_RCX) == WNDL_ARCH_CAME_BACK;
}

static inline bool wndl_arch_is_syscall(uint64_t address)
{
    struct wndl_own_memory memory = {0};
    uint8_t code[WNDL_ARCH_SYSCALL_BYTES];
    return wndl_own_memory_read(&memory, address, code, sizeof code) &&
           memcmp(code, WNDL_ARCH_SYSCALL, sizeof code) == 0;
}

/* Whether the context is right after a call. The mark outlives the place. */
static inline bool wndl_arch_is_after_call(const ucontext_t *context)
{
    return wndl_arch_syscall_left(context, wndl_arch_pc(context)) ||
           (wndl_arch_came_back(context) &&
               wndl_arch_is_syscall(
                   wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES));
}

/*
 * Moves back to before the instruction, as the kernel does for SA_RESTART.
 * `before` is the earlier value of the result's register: the number.
 */
static inline void wndl_arch_redo(ucontext_t *context, uint64_t before)
{
    wndl_arch_set(context, REG_RCX, WNDL_ARCH_REDONE);
    wndl_arch_set(context, REG_RAX, before);
    wndl_arch_set(
        context, REG_RIP, wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES);
}

/* The number of the call, before its instruction. */
static inline long wndl_arch_number(const ucontext_t *context)
{
    return (long)wndl_arch_get(context, REG_RAX);
}

/*
 * Moves from before the instruction to after it, as if the call had returned.
 */
static inline void wndl_arch_skip(ucontext_t *context, long result)
{
    wndl_arch_set(context, REG_RCX, WNDL_ARCH_CAME_BACK);
    wndl_arch_set(context, REG_RAX, (uint64_t)result);
    wndl_arch_set(
        context, REG_RIP, wndl_arch_pc(context) + WNDL_ARCH_SYSCALL_BYTES);
}

/* The end of the code that shows a call's number; 0: none. */
static inline uint64_t wndl_arch_call_site(const ucontext_t *context)
{
    return wndl_arch_pc(context) - WNDL_ARCH_SYSCALL_BYTES;
}

/* The calling thread's, which its TCB contains. */
static inline uint64_t wndl_arch_thread_pointer(void)
{
    uint64_t pointer = 0;
    if ((getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0)
        __asm__("rdfsbase %0" : "=r"(pointer));
    else
        (void)wndl_raw3(SYS_arch_prctl, ARCH_GET_FS, (long)&pointer, 0);
    return pointer;
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
