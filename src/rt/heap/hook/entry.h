/* SPDX-License-Identifier: MIT */
/*
 * entry: the entry points of the hooked allocation functions. A compiled
 * function may overwrite its caller's registers before it can read them. These
 * put them on the stack as a struct wndl_regs, as they are after the call, and
 * pass that as the last argument.
 *
 * WNDL_RT_HEAP_ENTRY(name, function, count): `name`, with `count` arguments,
 * calls `function`, which has one more.
 */
#ifndef WNDL_RT_HEAP_HOOK_ENTRY_H
#define WNDL_RT_HEAP_HOOK_ENTRY_H

#include <stddef.h>
#include <windlass/unwind.h>

/* A function that an entry calls. */
#define WNDL_RT_CALLED_BY_ASM __attribute__((used, visibility("hidden")))

#define WNDL_RT_HEAP_ENTRY(name, function, count)                              \
    __asm__(".text\n"                                                          \
            ".p2align 4\n"                                                     \
            ".globl " name "\n"                                                \
            ".hidden wndl_rt_entry_" name "\n"                                 \
            ".globl wndl_rt_entry_" name "\n"                                  \
            ".type " name ", %function\n"                                      \
            "wndl_rt_entry_" name ":\n" name ":\n"                             \
            ".cfi_startproc\n" WNDL_RT_HEAP_ENTRY_BODY(                        \
                function, count) ".cfi_endproc\n"                              \
                                 ".size " name ", . - " name "\n")

#if defined(__x86_64__)

_Static_assert(sizeof(struct wndl_regs) == 48 &&
                   offsetof(struct wndl_regs, valid) == 32 &&
                   offsetof(struct wndl_regs, gregs) == 40,
    "the room that is made for it");

#define WNDL_RT_HEAP_REGS_1 "%rsi"
#define WNDL_RT_HEAP_REGS_2 "%rdx"
#define WNDL_RT_HEAP_REGS_3 "%rcx"

/* 48 bytes of room, and 8 to align the stack. */
#define WNDL_RT_HEAP_ENTRY_BODY(function, count)                               \
    "subq $56, %rsp\n"                                                         \
    ".cfi_adjust_cfa_offset 56\n"                                              \
    "movq 56(%rsp), %rax\n"                                                    \
    "movq %rax, (%rsp)\n"                                                      \
    "leaq 64(%rsp), %rax\n"                                                    \
    "movq %rax, 8(%rsp)\n"                                                     \
    "movq %rbp, 16(%rsp)\n"                                                    \
    "movq %rbx, 24(%rsp)\n"                                                    \
    "movq $15, 32(%rsp)\n"                                                     \
    "movq $0, 40(%rsp)\n"                                                      \
    "movq %rsp, " WNDL_RT_HEAP_REGS_##count "\n"                               \
                                            "call " function "\n"              \
                                            "addq $56, %rsp\n"                 \
                                            ".cfi_adjust_cfa_offset -56\n"     \
                                            "ret\n"

#elif defined(__aarch64__)

_Static_assert(sizeof(struct wndl_regs) == 48 &&
                   offsetof(struct wndl_regs, valid) == 32 &&
                   offsetof(struct wndl_regs, gregs) == 40,
    "the room that is made for it");

#define WNDL_RT_HEAP_REGS_1 "x1"
#define WNDL_RT_HEAP_REGS_2 "x2"
#define WNDL_RT_HEAP_REGS_3 "x3"

/* X29, X30 and 48 bytes of room. */
#define WNDL_RT_HEAP_ENTRY_BODY(function, count)                               \
    "stp x29, x30, [sp, #-64]!\n"                                              \
    ".cfi_def_cfa_offset 64\n"                                                 \
    ".cfi_offset x29, -64\n"                                                   \
    ".cfi_offset x30, -56\n"                                                   \
    "add x9, sp, #64\n"                                                        \
    "stp x30, x9, [sp, #16]\n"                                                 \
    "stp x29, x19, [sp, #32]\n"                                                \
    "mov x9, #15\n"                                                            \
    "stp x9, xzr, [sp, #48]\n"                                                 \
    "add " WNDL_RT_HEAP_REGS_##count ", sp, #16\n"                             \
                                     "bl " function "\n"                       \
                                     "ldp x29, x30, [sp], #64\n"               \
                                     ".cfi_def_cfa_offset 0\n"                 \
                                     ".cfi_restore x29\n"                      \
                                     ".cfi_restore x30\n"                      \
                                     "ret\n"

#elif defined(__arm__)

_Static_assert(sizeof(struct wndl_regs) == 40 &&
                   offsetof(struct wndl_regs, valid) == 32 &&
                   offsetof(struct wndl_regs, gregs) == 36,
    "the room that is made for it");

#define WNDL_RT_HEAP_REGS_1 "r1"
#define WNDL_RT_HEAP_REGS_2 "r2"
#define WNDL_RT_HEAP_REGS_3 "r3"

/* R4, LR and 40 bytes of room. */
#define WNDL_RT_HEAP_ENTRY_BODY(function, count)                               \
    ".syntax unified\n"                                                        \
    ".arm\n"                                                                   \
    ".fnstart\n"                                                               \
    "push {r4, lr}\n"                                                          \
    ".save {r4, lr}\n"                                                         \
    "sub sp, sp, #40\n"                                                        \
    ".pad #40\n"                                                               \
    "mov r12, #0\n"                                                            \
    "str r12, [sp, #4]\n"                                                      \
    "str r12, [sp, #12]\n"                                                     \
    "str r12, [sp, #20]\n"                                                     \
    "str r12, [sp, #28]\n"                                                     \
    "str r12, [sp, #36]\n"                                                     \
    "bic r12, lr, #1\n"                                                        \
    "str r12, [sp]\n"                                                          \
    "add r12, sp, #48\n"                                                       \
    "str r12, [sp, #8]\n"                                                      \
    "str r11, [sp, #16]\n"                                                     \
    "str r7, [sp, #24]\n"                                                      \
    "mov r12, #15\n"                                                           \
    "str r12, [sp, #32]\n"                                                     \
    "mov " WNDL_RT_HEAP_REGS_##count ", sp\n"                                  \
                                     "bl " function "\n"                       \
                                     "add sp, sp, #40\n"                       \
                                     "pop {r4, pc}\n"                          \
                                     ".fnend\n"

#else

_Static_assert(sizeof(struct wndl_regs) == 40 &&
                   offsetof(struct wndl_regs, valid) == 32 &&
                   offsetof(struct wndl_regs, gregs) == 36,
    "the room that is made for it");

#define WNDL_RT_HEAP_REGS_1 "4(%esp)"
#define WNDL_RT_HEAP_REGS_2 "8(%esp)"
#define WNDL_RT_HEAP_REGS_3 "12(%esp)"

/* Four arguments, 40 bytes of room, and 4 to align the stack. */
#define WNDL_RT_HEAP_ENTRY_BODY(function, count)                               \
    "subl $60, %esp\n"                                                         \
    ".cfi_adjust_cfa_offset 60\n"                                              \
    "movl 60(%esp), %eax\n"                                                    \
    "movl %eax, 16(%esp)\n"                                                    \
    "movl $0, 20(%esp)\n"                                                      \
    "leal 64(%esp), %eax\n"                                                    \
    "movl %eax, 24(%esp)\n"                                                    \
    "movl $0, 28(%esp)\n"                                                      \
    "movl %ebp, 32(%esp)\n"                                                    \
    "movl $0, 36(%esp)\n"                                                      \
    "movl %ebx, 40(%esp)\n"                                                    \
    "movl $0, 44(%esp)\n"                                                      \
    "movl $15, 48(%esp)\n"                                                     \
    "movl $0, 52(%esp)\n"                                                      \
    "movl 72(%esp), %eax\n"                                                    \
    "movl %eax, 8(%esp)\n"                                                     \
    "movl 68(%esp), %eax\n"                                                    \
    "movl %eax, 4(%esp)\n"                                                     \
    "movl 64(%esp), %eax\n"                                                    \
    "movl %eax, (%esp)\n"                                                      \
    "leal 16(%esp), %eax\n"                                                    \
    "movl %eax, " WNDL_RT_HEAP_REGS_##count "\n"                               \
                                            "call " function "\n"              \
                                            "addl $60, %esp\n"                 \
                                            ".cfi_adjust_cfa_offset -60\n"     \
                                            "ret\n"

#endif

#endif
