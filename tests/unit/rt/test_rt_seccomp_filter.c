/* SPDX-License-Identifier: MIT */
/* A sandbox's filter gives the answer that the kernel's machine gives. */
#include "testlib.h"

#include "rt/core/seccomp_filter.h"

#include <stddef.h>
#include <sys/syscall.h>

#define SIZE(array) (unsigned short)(sizeof(array) / sizeof(array)[0])
#define ALLOWS(code, ...)                                                      \
    wndl_rt_seccomp_allows(&(struct sock_fprog){SIZE(code), (code)},           \
        &(struct seccomp_data){__VA_ARGS__})

enum { NUMBER = offsetof(struct seccomp_data, nr) };
enum { SECOND = offsetof(struct seccomp_data, args[1]) };

static void numbers_decide(void **state)
{
    (void)state;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NUMBER),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    assert_true(ALLOWS(code, .nr = 39));
    assert_false(ALLOWS(code, .nr = 38));
}

static void arguments_and_the_machine_s_memory_decide(void **state)
{
    (void)state;
    /* Allows an even second argument between 4 and 9. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SECOND),
        BPF_STMT(BPF_ST, 3),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 5, 0),
        BPF_STMT(BPF_LDX | BPF_MEM, 3),
        BPF_STMT(BPF_LD | BPF_IMM, 1),
        BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 3),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_X, 0, 0, 1),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_MISC | BPF_TXA, 0),
        BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 4),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 5, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    assert_true(ALLOWS(code, .args = {0, 4}));
    assert_true(ALLOWS(code, .args = {0, 8}));
    assert_false(ALLOWS(code, .args = {0, 2}));
    assert_false(ALLOWS(code, .args = {0, 5}));
    assert_false(ALLOWS(code, .args = {0, 10}));
}

static void results_may_be_computed(void **state)
{
    (void)state;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SECOND),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 2),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ALLOW & ~0xffffu),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    assert_true(ALLOWS(code, .args = {0, 7}));
    assert_false(ALLOWS(code, .args = {0, 0x40000000}));
}

static void programs_that_the_kernel_refuses_allow_nothing(void **state)
{
    (void)state;
    struct sock_filter endless[] = {BPF_STMT(BPF_LD | BPF_IMM, 1)};
    struct sock_filter beyond[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter by_zero[] = {
        BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter cell[] = {
        BPF_STMT(BPF_STX, BPF_MEMWORDS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    assert_false(ALLOWS(endless, .nr = 1));
    assert_false(ALLOWS(beyond, .nr = 1));
    assert_false(ALLOWS(by_zero, .nr = 1));
    assert_false(ALLOWS(cell, .nr = 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_decide),
        cmocka_unit_test(arguments_and_the_machine_s_memory_decide),
        cmocka_unit_test(results_may_be_computed),
        cmocka_unit_test(programs_that_the_kernel_refuses_allow_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
