/* SPDX-License-Identifier: MIT */
/* test_code_starts: where stacks begin, and where handlers return. */
#include "cfi_import/code/restorer.h"
#include "code_follow.h"

/* ---- threads */

/* As musl's clone(): the new thread has another stack, and no caller. */
CODE(clones, ".globl clones_1, clones_2, clones_3\n"
             "mov $56,%al\n"
             "sub $8,%rsi\n"
             "mov %rcx,(%rsi)\n"
             "syscall\n"
             "test %eax,%eax\n"
             "jnz clones_3\n"
             "clones_1: xor %ebp,%ebp\n"
             "pop %rdi\n"
             "clones_2: call *%r9\n"
             "hlt\n"
             "clones_3: ret\n")
PLACE(clones_1)
PLACE(clones_2)
PLACE(clones_3)
/* It saves RBP, which is a register as any other. */
CODE(calls, ".globl calls_1\n"
            "push %rbp\n"
            "syscall\n"
            "xor %ebp,%ebp\n"
            "calls_1: call *%rax\n"
            "pop %rbp\n"
            "ret\n")
PLACE(calls_1)
/* Without the kernel's help, RBP is one, too. */
CODE(clears, ".globl clears_1\n"
             "xor %ebp,%ebp\n"
             "clears_1: add %rax,%rbp\n"
             "ret\n")
PLACE(clears_1)

static bool begins_stack(const struct followed *f, const uint8_t *place)
{
    struct wndl_code_state state;
    struct wndl_cfi_row row;
    uint8_t room[WNDL_CODE_ROOM];
    assert_true(wndl_code_flow_state(
        &f->flow, address(place) - f->text.code.svma, &state));
    return wndl_code_state_row(&state, &row, room) &&
           row.regs[16].kind == WNDL_RULE_UNDEFINED;
}

static void test_thread_begins(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, clones, clones_end);
    assert_false(begins_stack(&f, clones_1));
    assert_true(begins_stack(&f, clones_2));
    expect(&f, clones_3, "sp+8 same same");
    drop(&f);
    follow(&f, calls, calls_end);
    expect(&f, calls_1, "sp+16 c-16 same");
    drop(&f);
    follow(&f, clears, clears_end);
    expect(&f, clears_1, "sp+8 none same");
    drop(&f);
}

/* A thread's first function ends by a call that does not return. */
CODE(runs, ".globl runs_1, runs_2\n"
           "lea runs_1(%rip),%rdi\n"
           "ret\n"
           ".skip 16, 0xcc\n"
           "runs_1: push %rbx\n"
           "call *(%rdi)\n"
           "runs_2: call runs\n"
           ".skip 8, 0x90\n")
PLACE(runs_1)
PLACE(runs_2)

static bool ends_there(void *context, uint64_t svma)
{
    return svma == *(const uint64_t *)context;
}

static void test_named_function_that_ends(void **state)
{
    uint64_t ender = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct followed f;
        const struct wndl_bytes bytes = {runs, (size_t)(runs_end - runs)};
        f.text = (struct wndl_code_text){.code = {address(runs), bytes},
            .parts = &f.text.code,
            .part_count = 1,
            .ends = ends_there,
            .context = &ender};
        wndl_arena_init(&f.arena, wndl_mem_libc());
        assert_true(wndl_code_flow_init(&f.flow, &f.text, &f.arena));
        wndl_code_flow_enter(&f.flow, address(runs), WNDL_CODE_CALLED);
        wndl_code_flow_scan(&f.flow, address(runs), address(runs_end), false);
        assert_true(wndl_code_flow_run(&f.flow));
        expect(&f, runs_2, ender == 0 ? "unreached" : "sp+16 same c-16");
        drop(&f);
        ender = address(runs);
    }
}

/* ---- the end of a handler */

CODE(restores, "ret\n"
               ".globl restores_1\n"
               "restores_1: mov $15,%rax\n"
               "syscall\n"
               "nop\n"
               ".globl restores_2\n"
               "restores_2: mov $15,%rax\n"
               "syscall\n")
PLACE(restores_1)
PLACE(restores_2)

static void test_restorers(void **state)
{
    (void)state;
    const struct wndl_bytes bytes = {
        restores, (size_t)(restores_end - restores)};
    const uint64_t svma = 0x1000;
    const struct wndl_code_range all = {svma, svma + bytes.size};
    struct wndl_code_text text = {.code = {svma, bytes}};
    uint64_t at = 0;
    assert_true(wndl_restorer_next(&text, &at));
    assert_int_equal(at, restores_2 - restores);
    at += wndl_restorer_size();
    assert_false(wndl_restorer_next(&text, &at));
    text.covered = (struct wndl_code_ranges){&all, 1};
    at = 0;
    assert_false(wndl_restorer_next(&text, &at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_begins),
        cmocka_unit_test(test_named_function_that_ends),
        cmocka_unit_test(test_restorers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
