/* SPDX-License-Identifier: MIT */
/*
 * own_stack: a stack for walks in each thread's memory. A walk takes some 6 KiB
 * of stack. After the kernel's signal frame the program's stack may not have
 * that left: alternate signal stacks of 8 KiB are common.
 */
#ifndef WNDL_RT_ARCH_OWN_STACK_H
#define WNDL_RT_ARCH_OWN_STACK_H

enum { WNDL_RT_OWN_STACK = 16 * 1024 };

/*
 * Calls `function` on the stack that ends at `top`, a multiple of 16. No signal
 * with a handler may arrive meanwhile: the kernel would not notice that an
 * alternate stack is in use.
 */
void wndl_rt_call_on(void *top, void (*function)(void *), void *argument);

#if defined(__i386__)
#define WNDL_RT_CALL_ON                                                        \
    ".text\n"                                                                  \
    ".type wndl_rt_call_on, @function\n"                                       \
    ".hidden wndl_rt_call_on\n"                                                \
    ".globl wndl_rt_call_on\n"                                                 \
    "wndl_rt_call_on:\n"                                                       \
    ".cfi_startproc\n"                                                         \
    "push %ebp\n"                                                              \
    ".cfi_def_cfa_offset 8\n"                                                  \
    ".cfi_offset %ebp, -8\n"                                                   \
    "mov %esp, %ebp\n"                                                         \
    ".cfi_def_cfa_register %ebp\n"                                             \
    "mov 8(%ebp), %esp\n"                                                      \
    "sub $12, %esp\n"                                                          \
    "push 16(%ebp)\n"                                                          \
    "call *12(%ebp)\n"                                                         \
    "mov %ebp, %esp\n"                                                         \
    "pop %ebp\n"                                                               \
    ".cfi_def_cfa %esp, 4\n"                                                   \
    "ret\n"                                                                    \
    ".cfi_endproc\n"                                                           \
    ".size wndl_rt_call_on, . - wndl_rt_call_on\n"
#elif defined(__aarch64__)
#define WNDL_RT_CALL_ON                                                        \
    ".text\n"                                                                  \
    ".type wndl_rt_call_on, %function\n"                                       \
    ".hidden wndl_rt_call_on\n"                                                \
    ".globl wndl_rt_call_on\n"                                                 \
    "wndl_rt_call_on:\n"                                                       \
    ".cfi_startproc\n"                                                         \
    "stp x29, x30, [sp, #-16]!\n"                                              \
    ".cfi_def_cfa_offset 16\n"                                                 \
    ".cfi_offset x29, -16\n"                                                   \
    ".cfi_offset x30, -8\n"                                                    \
    "mov x29, sp\n"                                                            \
    ".cfi_def_cfa_register x29\n"                                              \
    "mov sp, x0\n"                                                             \
    "mov x0, x2\n"                                                             \
    "blr x1\n"                                                                 \
    "mov sp, x29\n"                                                            \
    ".cfi_def_cfa_register sp\n"                                               \
    "ldp x29, x30, [sp], #16\n"                                                \
    ".cfi_def_cfa_offset 0\n"                                                  \
    ".cfi_restore x29\n"                                                       \
    ".cfi_restore x30\n"                                                       \
    "ret\n"                                                                    \
    ".cfi_endproc\n"                                                           \
    ".size wndl_rt_call_on, . - wndl_rt_call_on\n"
#elif defined(__arm__)
#define WNDL_RT_CALL_ON                                                        \
    ".text\n"                                                                  \
    ".syntax unified\n"                                                        \
    ".arm\n"                                                                   \
    ".p2align 2\n"                                                             \
    ".type wndl_rt_call_on, %function\n"                                       \
    ".hidden wndl_rt_call_on\n"                                                \
    ".globl wndl_rt_call_on\n"                                                 \
    "wndl_rt_call_on:\n"                                                       \
    ".fnstart\n"                                                               \
    "push {r11, lr}\n"                                                         \
    ".save {r11, lr}\n"                                                        \
    "mov r11, sp\n"                                                            \
    ".setfp r11, sp\n"                                                         \
    "mov sp, r0\n"                                                             \
    "mov r0, r2\n"                                                             \
    "blx r1\n"                                                                 \
    "mov sp, r11\n"                                                            \
    "pop {r11, pc}\n"                                                          \
    ".fnend\n"                                                                 \
    ".size wndl_rt_call_on, . - wndl_rt_call_on\n"
#else
#define WNDL_RT_CALL_ON                                                        \
    ".text\n"                                                                  \
    ".type wndl_rt_call_on, @function\n"                                       \
    ".hidden wndl_rt_call_on\n"                                                \
    ".globl wndl_rt_call_on\n"                                                 \
    "wndl_rt_call_on:\n"                                                       \
    ".cfi_startproc\n"                                                         \
    "push %rbp\n"                                                              \
    ".cfi_def_cfa_offset 16\n"                                                 \
    ".cfi_offset %rbp, -16\n"                                                  \
    "mov %rsp, %rbp\n"                                                         \
    ".cfi_def_cfa_register %rbp\n"                                             \
    "mov %rdi, %rsp\n"                                                         \
    "mov %rdx, %rdi\n"                                                         \
    "call *%rsi\n"                                                             \
    "mov %rbp, %rsp\n"                                                         \
    "pop %rbp\n"                                                               \
    ".cfi_def_cfa %rsp, 8\n"                                                   \
    "ret\n"                                                                    \
    ".cfi_endproc\n"                                                           \
    ".size wndl_rt_call_on, . - wndl_rt_call_on\n"
#endif

#endif
