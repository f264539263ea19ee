/* SPDX-License-Identifier: MIT */
/* Steps by frame pointer to callers whose callee went on by a jump. */
#include "testlib.h"

#include "unwind/slow/full.h"

#include <stdlib.h>
#include <windlass/unwind.h>

#ifdef __x86_64__

/*
 * Functions without CFI, far from the code that they jump to: no call but one
 * to a function that jumps on can have led there.
 */
__asm__(".text\n"
        "call returns\n"
        "after_returns: ud2\n"
        "call jumps\n"
        "after_jumps: ud2\n"
        "call branches\n"
        "after_branches: ud2\n"
        "call hops\n"
        "after_hops: ud2\n"
        "call long_one\n"
        "after_long_one: ud2\n"
        "call any\n"
        "after_any: ud2\n"
        "call passes_by\n"
        "after_passes_by: ud2\n"
        "call goes_round\n"
        "after_goes_round: ud2\n"
        "returns: push %rbp\n"
        "mov %rsp, %rbp\n"
        "pop %rbp\n"
        "ret\n"
        /* It is next to the one before, whose end must be seen. */
        "jumps: test %rax, %rax\n"
        "je 1f\n"
        "ret\n"
        "1: mov $3, %eax\n"
        "jmp copies\n"
        "branches: test %rax, %rax\n"
        "jne copies\n"
        "ret\n"
        "hops: jmp hops_more\n"
        "long_one: test %rax, %rax\n"
        "je 2f\n"
        ".skip 2000, 0x90\n"
        "ret\n"
        "2: jmp copies\n"
        "any: test %rax, %rax\n"
        "je 3f\n"
        "ret\n"
        "3: jmp *%rax\n"
        "passes_by: test %rax, %rax\n"
        "je behind\n"
        "ret\n"
        "goes_round: dec %rax\n"
        "jne goes_round\n"
        "jmp goes_round\n"
        ".skip 0x50000, 0xcc\n"
        "hops_more: test %rax, %rax\n"
        "je jumps\n"
        "ret\n"
        ".skip 0x50000, 0xcc\n"
        "copies: push %rbp\n"
        "mov %rsp, %rbp\n"
        "copies_here: hlt\n"
        "behind: ret\n");
extern const uint8_t after_returns[], after_jumps[], after_branches[];
extern const uint8_t after_hops[], after_long_one[], after_any[];
extern const uint8_t after_passes_by[], after_goes_round[];
extern const uint8_t copies_here[];

static const struct {
    const uint8_t *caller;
    bool is_possible;
} callers[] = {
    {after_returns, false},
    {after_jumps, true},
    {after_branches, true},
    {after_hops, true},
    {after_long_one, true},
    {after_any, true},
    {after_passes_by, false},
    {after_goes_round, false},
};

static uint64_t stack[8];

static bool read_stack(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    uint64_t low = (uintptr_t)stack;
    if (address < low || address - low > sizeof stack - size)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static const struct wndl_space space = {
    .memory = {.read = read_stack},
    .arch = WNDL_ARCH_HERE,
};

/* A jump shows that a caller is possible, and not that it is the right one. */
static void callers_by_jumps_are_guessed_and_others_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof callers / sizeof callers[0]; i++) {
        stack[2] = (uintptr_t)(stack + 5);
        stack[3] = (uintptr_t)callers[i].caller;
        struct wndl_fp_state s = {
            .pc = (uintptr_t)copies_here,
            .sp = (uintptr_t)stack,
            .fp = (uintptr_t)(stack + 2),
            .interrupted = true,
        };
        const struct wndl_step step = wndl_fp_step(&space, &s, true);
        assert_int_equal(step.more, callers[i].is_possible);
        if (step.more) {
            assert_int_equal(s.pc, (uintptr_t)callers[i].caller);
            assert_int_equal(s.fp, (uintptr_t)(stack + 5));
            assert_int_equal(step.how, WNDL_HOW_FP);
        } else {
            assert_int_equal(step.end, WNDL_END_NO_RULE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_by_jumps_are_guessed_and_others_refused),
    };
    return cmocka_run_group_tests_name("tail", tests, NULL, NULL);
}

#else

int main(void)
{
    return EXIT_SUCCESS;
}

#endif
