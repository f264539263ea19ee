/* SPDX-License-Identifier: MIT */
/*
 * self: the start of the walk of the caller's own stack. A compiled function
 * may overwrite its caller's registers before it can read them. This one makes
 * room for a struct wndl_regs, fills in the caller's four registers, and passes
 * it to wndl_unwind_self_from as the fourth argument.
 */
#include <stddef.h>
#include <windlass/unwind.h>

#if defined(__x86_64__)

_Static_assert(sizeof(struct wndl_regs) == 48 //
                   && offsetof(struct wndl_regs, bx) == 24,
    "the room that wndl_unwind_self makes");

/* 48 bytes of room, and 8 to align the stack. */
#define SELF                                                                   \
    "subq $56, %rsp\n\t"                                                       \
    ".cfi_adjust_cfa_offset 56\n\t"                                            \
    "movq 56(%rsp), %rax\n\t"                                                  \
    "movq %rax, (%rsp)\n\t"                                                    \
    "leaq 64(%rsp), %rax\n\t"                                                  \
    "movq %rax, 8(%rsp)\n\t"                                                   \
    "movq %rbp, 16(%rsp)\n\t"                                                  \
    "movq %rbx, 24(%rsp)\n\t"                                                  \
    "movq %rsp, %rcx\n\t"                                                      \
    "call wndl_unwind_self_from\n\t"                                           \
    "addq $56, %rsp\n\t"                                                       \
    ".cfi_adjust_cfa_offset -56\n\t"                                           \
    "ret"

#elif defined(__i386__)

_Static_assert(sizeof(struct wndl_regs) == 40 //
                   && offsetof(struct wndl_regs, bx) == 24,
    "the room that wndl_unwind_self makes");

/* Four arguments, 40 bytes of room, and 4 to align the stack. */
#define SELF                                                                   \
    "subl $60, %esp\n\t"                                                       \
    ".cfi_adjust_cfa_offset 60\n\t"                                            \
    "movl 60(%esp), %eax\n\t"                                                  \
    "movl %eax, 16(%esp)\n\t"                                                  \
    "movl $0, 20(%esp)\n\t"                                                    \
    "leal 64(%esp), %eax\n\t"                                                  \
    "movl %eax, 24(%esp)\n\t"                                                  \
    "movl $0, 28(%esp)\n\t"                                                    \
    "movl %ebp, 32(%esp)\n\t"                                                  \
    "movl $0, 36(%esp)\n\t"                                                    \
    "movl %ebx, 40(%esp)\n\t"                                                  \
    "movl $0, 44(%esp)\n\t"                                                    \
    "leal 16(%esp), %eax\n\t"                                                  \
    "movl %eax, 12(%esp)\n\t"                                                  \
    "movl 72(%esp), %eax\n\t"                                                  \
    "movl %eax, 8(%esp)\n\t"                                                   \
    "movl 68(%esp), %eax\n\t"                                                  \
    "movl %eax, 4(%esp)\n\t"                                                   \
    "movl 64(%esp), %eax\n\t"                                                  \
    "movl %eax, (%esp)\n\t"                                                    \
    "call wndl_unwind_self_from\n\t"                                           \
    "addl $60, %esp\n\t"                                                       \
    ".cfi_adjust_cfa_offset -60\n\t"                                           \
    "ret"

#endif

#if defined(__aarch64__)

_Static_assert(sizeof(struct wndl_regs) == 48, "the room that is made");

/* gcc has no naked functions here. */
__asm__(".text\n\t"
        ".globl wndl_unwind_self\n\t"
        ".type wndl_unwind_self, %function\n"
        "wndl_unwind_self:\n\t"
        ".cfi_startproc\n\t"
        "stp x29, x30, [sp, #-64]!\n\t"
        ".cfi_def_cfa_offset 64\n\t"
        ".cfi_offset x29, -64\n\t"
        ".cfi_offset x30, -56\n\t"
        "add x3, sp, #64\n\t"
        "stp x30, x3, [sp, #16]\n\t"
        "stp x29, x19, [sp, #32]\n\t"
        "add x3, sp, #16\n\t"
        "bl wndl_unwind_self_from\n\t"
        "ldp x29, x30, [sp], #64\n\t"
        ".cfi_def_cfa_offset 0\n\t"
        ".cfi_restore x29\n\t"
        ".cfi_restore x30\n\t"
        "ret\n\t"
        ".cfi_endproc\n\t"
        ".size wndl_unwind_self, .-wndl_unwind_self\n\t"
        ".previous");

#elif defined(__arm__)

_Static_assert(sizeof(struct wndl_regs) == 40 //
                   && offsetof(struct wndl_regs, bx) == 24,
    "the room that is made");

/* 40 bytes of room, and lr. ARM code, because Thumb may not exist. */
__asm__(".text\n\t"
        ".syntax unified\n\t"
        ".arm\n\t"
        ".align 2\n\t"
        ".globl wndl_unwind_self\n\t"
        ".type wndl_unwind_self, %function\n"
        "wndl_unwind_self:\n\t"
        ".fnstart\n\t"
        "push {r4, lr}\n\t"
        ".save {r4, lr}\n\t"
        "sub sp, sp, #40\n\t"
        ".pad #40\n\t"
        "mov r12, #0\n\t"
        "bic r3, lr, #1\n\t"
        "str r3, [sp]\n\t"
        "str r12, [sp, #4]\n\t"
        "add r3, sp, #48\n\t"
        "str r3, [sp, #8]\n\t"
        "str r12, [sp, #12]\n\t"
        "str r11, [sp, #16]\n\t"
        "str r12, [sp, #20]\n\t"
        "str r7, [sp, #24]\n\t"
        "str r12, [sp, #28]\n\t"
        "mov r3, sp\n\t"
        "bl wndl_unwind_self_from\n\t"
        "add sp, sp, #40\n\t"
        "pop {r4, pc}\n\t"
        ".fnend\n\t"
        ".size wndl_unwind_self, .-wndl_unwind_self\n\t"
        ".previous");

#else

__attribute__((naked)) void wndl_unwind_self(struct wndl_unwinder *u
    __attribute__((unused)),
    const struct wndl_stack_range *stack __attribute__((unused)),
    struct wndl_walk *walk __attribute__((unused)))
{
    __asm__(SELF);
}

#endif
