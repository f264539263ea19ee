/* SPDX-License-Identifier: MIT */
#include "unwind_extras.h"

#include <alloca.h>
#include <signal.h>

static __thread struct chain *signal_chain;

static void go_on(int number)
{
    (void)number;
    struct chain *chain = signal_chain;
    (void)chain_next(chain);
}

static long raise_and_go_on(struct chain *chain, int number)
{
    signal_chain = chain;
    return raise(number);
}

static long through_signal(struct chain *chain)
{
    return raise_and_go_on(chain, SIGUSR1) + 1;
}

static long through_alternate_stack(struct chain *chain)
{
    return raise_and_go_on(chain, SIGUSR2) + 1;
}

/* Alignment and alloca together make gcc keep the CFA in memory. */
static __attribute__((noinline)) long realigned(struct chain *chain)
{
    char frame[192] __attribute__((aligned(64)));
    char *more = alloca(32 + chain->depth % 32);
    __asm__ volatile("" : : "r"(frame), "r"(more) : "memory");
    return chain_next(chain);
}

/* As in what throws: libgcc's own functions begin so. */
static __attribute__((noinline)) long all_saved(struct chain *chain)
{
    __builtin_unwind_init();
    return chain_next(chain) + 1;
}

/* call_without_cfi and call_by_rbx. */
#define FUNCTION(name, body)                                                   \
    __asm__(".pushsection .text\n"                                             \
            ".globl " name "\n"                                                \
            ".hidden " name "\n"                                               \
            ".type " name ", @function\n" name ":\n\t" body ".size " name      \
            ", . - " name "\n"                                                 \
            ".popsection")

#ifdef __x86_64__

FUNCTION("call_without_cfi", "pushq %rbp\n\t"
                             "movq %rsp, %rbp\n\t"
                             "subq $48, %rsp\n\t"
                             "movq %rdi, %rax\n\t"
                             "movq %rsi, %rdi\n\t"
                             "call *%rax\n\t"
                             "leave\n\t"
                             "ret\n");

FUNCTION("call_by_rbx", ".cfi_startproc\n\t"
                        "pushq %rbx\n\t"
                        ".cfi_adjust_cfa_offset 8\n\t"
                        ".cfi_rel_offset %rbx, 0\n\t"
                        "movq %rsp, %rbx\n\t"
                        ".cfi_def_cfa_register %rbx\n\t"
                        "subq $64, %rsp\n\t"
                        "movq %rdi, %rax\n\t"
                        "movq %rsi, %rdi\n\t"
                        "call *%rax\n\t"
                        "movq %rbx, %rsp\n\t"
                        ".cfi_def_cfa_register %rsp\n\t"
                        "popq %rbx\n\t"
                        ".cfi_adjust_cfa_offset -8\n\t"
                        ".cfi_restore %rbx\n\t"
                        "ret\n\t"
                        ".cfi_endproc\n");

#else

FUNCTION("call_without_cfi", "pushl %ebp\n\t"
                             "movl %esp, %ebp\n\t"
                             "subl $20, %esp\n\t"
                             "movl 8(%ebp), %eax\n\t"
                             "pushl 12(%ebp)\n\t"
                             "call *%eax\n\t"
                             "leave\n\t"
                             "ret\n");

FUNCTION("call_by_rbx", ".cfi_startproc\n\t"
                        "pushl %ebx\n\t"
                        ".cfi_adjust_cfa_offset 4\n\t"
                        ".cfi_rel_offset %ebx, 0\n\t"
                        "movl %esp, %ebx\n\t"
                        ".cfi_def_cfa_register %ebx\n\t"
                        "subl $36, %esp\n\t"
                        "movl 8(%ebx), %eax\n\t"
                        "pushl 12(%ebx)\n\t"
                        "call *%eax\n\t"
                        "movl %ebx, %esp\n\t"
                        ".cfi_def_cfa_register %esp\n\t"
                        "popl %ebx\n\t"
                        ".cfi_adjust_cfa_offset -4\n\t"
                        ".cfi_restore %ebx\n\t"
                        "ret\n\t"
                        ".cfi_endproc\n");

#endif

static long chain_next_of(void *chain)
{
    return chain_next(chain) + 1;
}

static long without_cfi(struct chain *chain)
{
    return call_without_cfi(chain_next_of, chain) + 1;
}

static long by_rbx(struct chain *chain)
{
    return call_by_rbx(chain_next_of, chain) + 1;
}

long (*const extras[EXTRA_COUNT])(struct chain *chain) = {
    [EXTRA_SIGNAL] = through_signal,
    [EXTRA_SIGNAL_ALTERNATE] = through_alternate_stack,
    [EXTRA_REALIGNED] = realigned,
    [EXTRA_ALL_SAVED] = all_saved,
    [EXTRA_BY_RBX] = by_rbx,
    [EXTRA_NO_CFI] = without_cfi,
};

static void set_handler(int number, void (*handler)(int), int flags)
{
    const struct sigaction action = {
        .sa_handler = handler, .sa_flags = SA_NODEFER | flags};
    int failed = sigaction(number, &action, NULL);
    must(failed == 0);
}

void extras_begin(void *alternate_stack, size_t size)
{
    const stack_t stack = {.ss_sp = alternate_stack, .ss_size = size};
    int failed = sigaltstack(&stack, NULL);
    must(failed == 0);
    set_handler(SIGUSR1, go_on, 0);
    set_handler(SIGUSR2, go_on, SA_ONSTACK);
}

void extras_end(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    int failed = sigaltstack(&none, NULL);
    must(failed == 0);
    set_handler(SIGUSR1, SIG_DFL, 0);
    set_handler(SIGUSR2, SIG_DFL, 0);
}
