/* SPDX-License-Identifier: MIT */
/*
 * test_code_i386: rules from the code of small functions of i386. The assembler
 * makes the code; it is read and never run.
 */
#include "code_follow.h"

#define CODE_32(name, text) CODE(name, ".code32\n" text "\n.code64\n")

static void follow_32(
    struct followed *f, const uint8_t *start, const uint8_t *end)
{
    f->text = (struct wndl_code_text){.mode = WNDL_INSN_32};
    follow_text(f, start, end);
}

/* ---- frames */

CODE_32(pushes, ".globl pushes_1, pushes_2, pushes_3, pushes_4\n"
                "push %ebx\n"
                "pushes_1: sub $24,%esp\n"
                "pushes_2: push %esi\n"
                "push 8(%esp)\n"
                "xor %ebx,%ebx\n"
                "call *%eax\n"
                "pop %edx\n"
                "pop %esi\n"
                "add $24,%esp\n"
                "pushes_3: pop %ebx\n"
                "pushes_4: ret")
PLACE(pushes_1)
PLACE(pushes_2)
PLACE(pushes_3)
PLACE(pushes_4)

static void test_pushes(void **state)
{
    struct followed f;
    (void)state;
    follow_32(&f, pushes, pushes_end);
    expect(&f, pushes, "sp+4 same same");
    expect(&f, pushes_1, "sp+8 same c-8");
    expect(&f, pushes_2, "sp+32 same c-8");
    expect(&f, pushes_3, "sp+8 same c-8");
    expect(&f, pushes_4, "sp+4 same same");
    drop(&f);
}

CODE_32(framed, ".globl framed_1, framed_2, framed_3, framed_4\n"
                "push %ebp\n"
                "framed_1: mov %esp,%ebp\n"
                "and $-16,%esp\n"
                "framed_2: push %ebx\n"
                "call *%eax\n"
                "framed_3: leave\n"
                "framed_4: ret")
PLACE(framed_1)
PLACE(framed_2)
PLACE(framed_3)
PLACE(framed_4)

static void test_frame_pointer(void **state)
{
    struct followed f;
    (void)state;
    follow_32(&f, framed, framed_end);
    expect(&f, framed_1, "sp+8 c-8 same");
    expect(&f, framed_2, "bp+8 c-8 same");
    expect(&f, framed_3, "bp+8 c-8 [sp+0]");
    expect(&f, framed_4, "sp+4 same same");
    drop(&f);
}

/* No red zone: what is below SP is lost. */
CODE_32(below, ".globl below_1\n"
               "push %ebx\n"
               "xor %ebx,%ebx\n"
               "add $4,%esp\n"
               "below_1: mov -4(%esp),%ebx\n"
               "ret")
PLACE(below_1)

static void test_below_the_stack(void **state)
{
    struct followed f;
    (void)state;
    follow_32(&f, below, below_end);
    expect(&f, below_1, "sp+4 same none");
    drop(&f);
}

/* ---- calls */

/* The address of the next instruction, pushed by a call of it. */
CODE_32(itself, ".globl itself_1, itself_2\n"
                "call 1f\n"
                "1: pop %eax\n"
                "itself_1: push %ebx\n"
                "itself_2: pop %ebx\n"
                "ret")
PLACE(itself_1)
PLACE(itself_2)

static void test_call_of_the_next_instruction(void **state)
{
    struct followed f;
    (void)state;
    follow_32(&f, itself, itself_end);
    expect(&f, itself_1, "sp+4 same same");
    expect(&f, itself_2, "sp+8 same c-8");
    drop(&f);
}

/* Functions that return a struct free the address of it. */
CODE_32(structs, ".globl structs_1, structs_2, structs_3, structs_4\n"
                 "sub $28,%esp\n"
                 "push %eax\n"
                 "call 1f\n"
                 "structs_1: push %eax\n"
                 "call 3f\n"
                 "structs_2: push %eax\n"
                 "call 4f\n"
                 "structs_3: add $32,%esp\n"
                 "structs_4: ret\n"
                 ".balign 16\n"
                 "1: test %ecx,%ecx\n"
                 "jz 2f\n"
                 "xor %eax,%eax\n"
                 "2: ret $4\n"
                 ".balign 16\n"
                 "3: jmp 1b\n"
                 ".balign 16\n"
                 "4: ret")
PLACE(structs_1)
PLACE(structs_2)
PLACE(structs_3)
PLACE(structs_4)

static void test_callees_that_free(void **state)
{
    struct followed f;
    (void)state;
    follow_32(&f, structs, structs_end);
    expect(&f, structs_1, "sp+32");
    expect(&f, structs_2, "sp+32");
    expect(&f, structs_3, "sp+36");
    expect(&f, structs_4, "sp+4");
    drop(&f);
}

/* ---- tables of jumps */

/* As gcc makes them for libraries: table and entries count from the global
 * offset table, whose address is in a register. */
CODE_32(table, ".globl table_got, table_1, table_2, table_3\n"
               "push %ebx\n"
               "sub $8,%esp\n"
               "cmp $1,%eax\n"
               "ja table_3\n"
               "mov 9f-table_got(%ebx,%eax,4),%eax\n"
               "add %ebx,%eax\n"
               "notrack jmp *%eax\n"
               "table_got: .long 0\n"
               "9: .long table_1-table_got, table_2-table_got\n"
               "table_1: push %eax\n"
               "call *%ecx\n"
               "pop %eax\n"
               "table_2: nop\n"
               "table_3: add $8,%esp\n"
               "pop %ebx\n"
               "ret")
PLACE(table_got)
PLACE(table_1)
PLACE(table_2)
PLACE(table_3)

static void test_table_of_a_library(void **state)
{
    struct followed f;
    (void)state;
    f.text = (struct wndl_code_text){
        .mode = WNDL_INSN_32, .got = (uint32_t)address(table_got)};
    follow_text(&f, table, table_end);
    expect(&f, table_1, "sp+16 same c-8");
    expect(&f, table_2, "sp+16 same c-8");
    expect(&f, table_3, "sp+16 same c-8");
    drop(&f);
}

/* ---- ends */

/* As libc's clone for i386. */
CODE_32(thread, ".globl thread_1, thread_2\n"
                "push %ebx\n"
                "int $0x80\n"
                "test %eax,%eax\n"
                "jz 1f\n"
                "pop %ebx\n"
                "thread_1: ret\n"
                "1: xor %ebp,%ebp\n"
                "thread_2: call *%ebx\n"
                "hlt")
PLACE(thread_1)
PLACE(thread_2)

static void test_start_of_a_thread(void **state)
{
    struct followed f;
    struct wndl_code_state before;
    (void)state;
    follow_32(&f, thread, thread_end);
    expect(&f, thread_1, "sp+4 same same");
    assert_true(
        wndl_code_flow_state(&f.flow, (uint64_t)(thread_2 - thread), &before));
    assert_int_equal(before.is_start, 1);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pushes),
        cmocka_unit_test(test_frame_pointer),
        cmocka_unit_test(test_below_the_stack),
        cmocka_unit_test(test_call_of_the_next_instruction),
        cmocka_unit_test(test_callees_that_free),
        cmocka_unit_test(test_table_of_a_library),
        cmocka_unit_test(test_start_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
