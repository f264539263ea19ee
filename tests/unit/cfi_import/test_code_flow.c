/* SPDX-License-Identifier: MIT */
/*
 * test_code_flow: rules from the code of small functions. The assembler makes
 * the code; it is read and never run.
 */
#include "code_follow.h"

/* ---- frames */

CODE(pushes, ".globl pushes_1, pushes_2, pushes_3, pushes_4, pushes_5\n"
             "push %rbx\n"
             "pushes_1: sub $32,%rsp\n"
             "pushes_2: test %edi,%edi\n"
             "jz pushes_5\n"
             "xor %ebx,%ebx\n"
             "call *%rax\n"
             "add $32,%rsp\n"
             "pushes_3: pop %rbx\n"
             "pushes_4: ret\n"
             "pushes_5: mov $1,%eax\n"
             "add $32,%rsp\n"
             "pop %rbx\n"
             "ret")
PLACE(pushes_1)
PLACE(pushes_2)
PLACE(pushes_3)
PLACE(pushes_4)
PLACE(pushes_5)

static void test_pushes(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, pushes, pushes_end);
    expect(&f, pushes, "sp+8 same same");
    expect(&f, pushes_1, "sp+16 same c-16");
    expect(&f, pushes_2, "sp+48 same c-16");
    expect(&f, pushes_3, "sp+16 same c-16");
    expect(&f, pushes_4, "sp+8 same same");
    expect(&f, pushes_5, "sp+48 same c-16");
    drop(&f);
}

CODE(framed, ".globl framed_1, framed_2, framed_3, framed_4, framed_5\n"
             "push %rbp\n"
             "framed_1: mov %rsp,%rbp\n"
             "framed_2: push %rbx\n"
             "sub %rax,%rsp\n"
             "framed_3: mov %rsp,%rbx\n"
             "call *%rdx\n"
             "lea -8(%rbp),%rsp\n"
             "framed_4: pop %rbx\n"
             "pop %rbp\n"
             "framed_5: ret")
PLACE(framed_1)
PLACE(framed_2)
PLACE(framed_3)
PLACE(framed_4)
PLACE(framed_5)

static void test_frame_pointer(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, framed, framed_end);
    expect(&f, framed_1, "sp+16 c-16 same");
    expect(&f, framed_2, "bp+16 c-16 same");
    expect(&f, framed_3, "bp+16 c-16 c-24");
    expect(&f, framed_4, "bp+16 c-16 c-24");
    expect(&f, framed_5, "sp+8 same same");
    drop(&f);
}

CODE(entered, ".globl entered_1, entered_2\n"
              "enter $64,$0\n"
              "entered_1: leave\n"
              "entered_2: ret $16")
PLACE(entered_1)
PLACE(entered_2)

static void test_enter_and_leave(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, entered, entered_end);
    expect(&f, entered_1, "bp+16 c-16");
    expect(&f, entered_2, "sp+8 same");
    drop(&f);
}

/* As x86inc.asm aligns: SP in a register, then in a slot. */
CODE(aligned, ".globl aligned_1, aligned_2, aligned_3, aligned_4, aligned_5\n"
              "mov %rsp,%rax\n"
              "and $-64,%rsp\n"
              "aligned_1: sub $192,%rsp\n"
              "mov %rax,128(%rsp)\n"
              "aligned_2: xor %eax,%eax\n"
              "aligned_3: vmovaps %zmm0,(%rsp)\n"
              "aligned_4: mov 128(%rsp),%rsp\n"
              "aligned_5: ret")
PLACE(aligned_1)
PLACE(aligned_2)
PLACE(aligned_3)
PLACE(aligned_4)
PLACE(aligned_5)

static void test_aligned(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, aligned, aligned_end);
    expect(&f, aligned_1, "ax+8 same");
    expect(&f, aligned_2, "ax+8 same");
    expect(&f, aligned_3, "[sp+128] same");
    expect(&f, aligned_4, "[sp+128] same");
    expect(&f, aligned_5, "sp+8 same");
    drop(&f);
}

/* As gcc aligns. */
CODE(drap, ".globl drap_1, drap_2, drap_3, drap_4\n"
           "lea 8(%rsp),%r10\n"
           "and $-32,%rsp\n"
           "push -8(%r10)\n"
           "push %rbp\n"
           "mov %rsp,%rbp\n"
           "push %r10\n"
           "drap_1: call *%rax\n"
           "drap_2: mov -8(%rbp),%r10\n"
           "leave\n"
           "drap_3: lea -8(%r10),%rsp\n"
           "drap_4: ret")
PLACE(drap_1)
PLACE(drap_2)
PLACE(drap_3)
PLACE(drap_4)

static void test_aligned_by_gcc(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, drap, drap_end);
    expect(&f, drap_1, "r10+0 [bp+0]");
    expect(&f, drap_2, "[bp-8] [bp+0]");
    expect(&f, drap_3, "r10+0 same");
    expect(&f, drap_4, "sp+8 same");
    drop(&f);
}

/* ---- ways */

CODE(disagrees, ".globl disagrees_1, disagrees_2\n"
                "test %edi,%edi\n"
                "jz disagrees_1\n"
                "push %rax\n"
                "disagrees_1: mov $1,%eax\n"
                "disagrees_2: ret")
PLACE(disagrees_1)
PLACE(disagrees_2)

static void test_ways_that_disagree(void **state)
{
    struct followed f;
    struct wndl_code_state s;
    (void)state;
    follow(&f, disagrees, disagrees_end);
    expect(&f, disagrees, "sp+8");
    expect(&f, disagrees_2, "no rule");
    assert_true(
        wndl_code_flow_state(&f.flow, (uint64_t)(disagrees_2 - disagrees), &s));
    assert_int_equal(s.joined, 1);
    drop(&f);
}

/* The call does not return: the code after it is reached with another SP. */
CODE(ends, ".globl ends_1\n"
           "test %edi,%edi\n"
           "jz ends_1\n"
           "sub $8,%rsp\n"
           "test %esi,%esi\n"
           "jz 1f\n"
           "add $8,%rsp\n"
           "ret\n"
           "1: call *%rax\n"
           "ends_1: mov $1,%eax\n"
           "ret")
PLACE(ends_1)

static void test_call_that_does_not_return(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, ends, ends_end);
    expect(&f, ends_1, "sp+8");
    drop(&f);
}

/* -fstack-clash-protection: SP goes down page by page to a register. */
CODE(clash, ".globl clash_1, clash_2, clash_3, clash_4\n"
            "lea -65536(%rsp),%r11\n"
            "clash_1: sub $4096,%rsp\n"
            "orq $0,(%rsp)\n"
            "clash_2: cmp %r11,%rsp\n"
            "jne clash_1\n"
            "clash_3: sub $24,%rsp\n"
            "clash_4: add $65560,%rsp\n"
            "ret")
PLACE(clash_1)
PLACE(clash_2)
PLACE(clash_3)
PLACE(clash_4)

static void test_loop_of_pages(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, clash, clash_end);
    expect(&f, clash, "sp+8");
    expect(&f, clash_1, "r11+65544");
    expect(&f, clash_2, "r11+65544");
    expect(&f, clash_3, "sp+65544");
    expect(&f, clash_4, "sp+65568");
    drop(&f);
}

CODE(returns_elsewhere, "push %rax\n"
                        ".globl returns_1\n"
                        "returns_1: ret")
PLACE(returns_1)

static void test_return_with_another_stack(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, returns_elsewhere, returns_elsewhere_end);
    expect(&f, returns_1, "unreached");
    drop(&f);
}

CODE(switches, ".globl switches_1, switches_2, switches_3\n"
               "push %rbx\n"
               "cmp $2,%edi\n"
               "ja 9f\n"
               "lea 8f(%rip),%rdx\n"
               "movslq (%rdx,%rdi,4),%rax\n"
               "add %rdx,%rax\n"
               "jmp *%rax\n"
               ".balign 4\n"
               "8: .long switches_1-8b,switches_2-8b,9f-8b\n"
               "switches_1: push %rax\n"
               "call *%rax\n"
               "pop %rax\n"
               "jmp 9f\n"
               "switches_2: mov $2,%eax\n"
               "9: pop %rbx\n"
               "switches_3: ret")
PLACE(switches_1)
PLACE(switches_2)
PLACE(switches_3)

static void test_jump_table(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, switches, switches_end);
    expect(&f, switches_1, "sp+16 same c-16");
    expect(&f, switches_2, "sp+16 same c-16");
    expect(&f, switches_3, "sp+8 same same");
    drop(&f);
}

/* Where a jump leads is not known, but the code after it fits its state. */
CODE(jumps, ".globl jumps_1, jumps_2\n"
            "push %rbx\n"
            "push %rbp\n"
            "jmp *%rdx\n"
            "jumps_1: mov $1,%eax\n"
            "pop %rbp\n"
            "jumps_2: pop %rbx\n"
            "ret\n"
            "pop %rbp\n"
            "pop %rbx\n"
            "ret")
PLACE(jumps_1)
PLACE(jumps_2)

static void test_jump_to_the_code_after_it(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, jumps, jumps_end);
    expect(&f, jumps_1, "sp+24 c-24 c-16");
    expect(&f, jumps_2, "sp+16 same c-16");
    drop(&f);
}

/* A subroutine in the middle, and code that asks for its own address. */
CODE(several, ".globl several_1, several_2, several_3, several_4\n"
              "push %rbx\n"
              "call several_2\n"
              "several_1: pop %rbx\n"
              "ret\n"
              "several_2: call several_3\n"
              "several_3: pop %rax\n"
              "several_4: ret")
PLACE(several_1)
PLACE(several_2)
PLACE(several_3)
PLACE(several_4)

static void test_several_entries(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, several, several_end);
    expect(&f, several_1, "sp+16 same c-16");
    expect(&f, several_2, "sp+8 same same");
    expect(&f, several_3, "sp+16");
    expect(&f, several_4, "sp+8");
    drop(&f);
}

/*
 * As x264's trellis_coef1: code that is called at its start changes a register,
 * and runs on into code that is called, too. `NEXT` may be called first.
 */
#define RUNS_ON(NAME, FIRST, NEXT, BRANCH)                                     \
    CODE(NAME, ".globl " #NAME "_1, " #NAME "_2, " #NAME "_3\n"                \
               "push %rbp\n"                                                   \
               "push %rbx\n"                                                   \
               "call " FIRST "\n"                                              \
               "call " NEXT "\n"                                               \
               "pop %rbx\n"                                                    \
               "pop %rbp\n"                                                    \
               "ret\n" #NAME "_1: mov 64(%rsp),%rbp\n"                         \
               "test %ebp,%ebp\n" BRANCH #NAME "_2: mov $1,%eax\n"             \
               "test %eax,%eax\n" #NAME "_3: ret")                             \
    PLACE(NAME##_1)                                                            \
    PLACE(NAME##_2)                                                            \
    PLACE(NAME##_3)
RUNS_ON(runs, "runs_1", "runs_2", "")
RUNS_ON(reruns, "reruns_2", "reruns_1", "")
RUNS_ON(leaps, "leaps_1", "leaps_2", "jmp leaps_2\n")
RUNS_ON(sinks, "sinks_1", "sinks_2", "push %rax\n")

static void test_entries_that_run_on(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, runs, runs_end);
    expect(&f, runs_1, "sp+8 same same");
    expect(&f, runs_2, "sp+8 none same");
    expect(&f, runs_3, "sp+8 none same");
    drop(&f);
    follow(&f, reruns, reruns_end);
    expect(&f, reruns_2, "sp+8 none same");
    expect(&f, reruns_3, "sp+8 none same");
    drop(&f);
    follow(&f, leaps, leaps_end);
    expect(&f, leaps_3, "sp+8 none same");
    drop(&f);
    /* With another stack it could not come back: then it is no such way. */
    follow(&f, sinks, sinks_end);
    expect(&f, sinks_2, "sp+8 same same");
    expect(&f, sinks_3, "sp+8 same same");
    drop(&f);
}

/* Data in front of a function may look like code that changes registers. */
CODE(fronts, ".globl fronts_2\n"
             "push %rbx\n"
             "call fronts_2\n"
             "pop %rbx\n"
             "ret\n"
             "test %edi,%edi\n"
             "jz 1f\n"
             "mov 64(%rsp),%rbp\n"
             "fronts_2: mov $1,%eax\n"
             "1: ret")
PLACE(fronts_2)

static void test_data_in_front_of_an_entry(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, fronts, fronts_end);
    expect(&f, fronts_2, "sp+8 same same");
    drop(&f);
}

/*
 * Data behind a function may look like code that leads into it: to a place
 * where SP is another one, and with another register to code that does not run.
 */
CODE(aside, ".globl aside_1\n"
            "mov %rsp,%rax\n"
            "and $-64,%rsp\n"
            "sub $64,%rsp\n"
            "mov %rax,32(%rsp)\n"
            "aside_1: xor %eax,%eax\n"
            "dec %ecx\n"
            "jnz aside_1\n"
            "mov 32(%rsp),%rsp\n"
            "ret\n"
            "jns aside_1\n"
            "ret")
PLACE(aside_1)
CODE(behind, ".globl behind_1\n"
             "xor %eax,%eax\n"
             "behind_1: dec %ecx\n"
             "jnz behind_1\n"
             "ret\n"
             "xor %ebx,%ebx\n"
             "jns behind_1\n"
             ".byte 6")
PLACE(behind_1)

static void test_data_behind_a_function(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, aside, aside_end);
    expect(&f, aside_1, "[sp+32] same same");
    drop(&f);
    follow(&f, behind, behind_end);
    expect(&f, behind_1, "sp+8 same same");
    drop(&f);
}

/* The return address in a register, and one that was overwritten. */
CODE(popped, ".globl popped_1\n"
             "pop %rdx\n"
             "popped_1: xor %eax,%eax\n"
             "jmp *%rdx")
PLACE(popped_1)
CODE(overwritten, ".globl overwritten_1\n"
                  "mov %rax,(%rsp)\n"
                  "overwritten_1: ret")
PLACE(overwritten_1)

static void test_return_address(void **state)
{
    struct followed f;
    struct wndl_code_state s;
    struct wndl_cfi_row row;
    uint8_t room[WNDL_CODE_ROOM];
    (void)state;
    follow(&f, popped, popped_end);
    assert_true(
        wndl_code_flow_state(&f.flow, (uint64_t)(popped_1 - popped), &s));
    assert_true(wndl_code_state_row(&s, &row, room));
    assert_int_equal(row.cfa.offset, 0);
    assert_int_equal(row.regs[16].kind, WNDL_RULE_REGISTER);
    assert_int_equal(row.regs[16].reg, 1); /* RDX */
    drop(&f);
    follow(&f, overwritten, overwritten_end);
    expect(&f, overwritten_1, "no rule");
    drop(&f);
}

/* RBP is a scratch register: what it was is lost. */
CODE(clobbers, ".globl clobbers_1\n"
               "xor %ebp,%ebp\n"
               "clobbers_1: xor %eax,%eax\n"
               "ret")
PLACE(clobbers_1)

static void test_lost_register(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, clobbers, clobbers_end);
    expect(&f, clobbers_1, "sp+8 none same");
    drop(&f);
}

/* ---- functions with rules of their own */

CODE(keeps, ".globl keeps_1, keeps_2, keeps_3\n"
            "mov %rsp,%rcx\n"
            "and $-16,%rsp\n"
            "sub $48,%rsp\n"
            "call keeps_2\n"
            "keeps_1: mov %rcx,%rsp\n"
            "ret\n"
            "keeps_2: mov $4,%eax\n"
            "1: dec %eax\n"
            "jz keeps_3\n"
            "lea (%rdx,%rdx),%rsi\n"
            "jmp 1b\n"
            "keeps_3: ret\n")
PLACE(keeps_1)
PLACE(keeps_3)

CODE(writes, ".globl writes_1\n"
             "mov %rsp,%rcx\n"
             "and $-16,%rsp\n"
             "sub $48,%rsp\n"
             "call writes_2\n"
             "writes_1: mov %rcx,%rsp\n"
             "ret\n"
             "writes_2: mov $4,%ecx\n"
             "ret\n")
PLACE(writes_1)

/* x264's Hadamard transforms keep the stack pointer in RCX over calls. */
static void test_callee_that_keeps_a_register(void **state)
{
    struct followed f;
    (void)state;
    follow(&f, keeps, keeps_end);
    expect(&f, keeps_1, "cx+8 same same");
    expect(&f, keeps_3, "sp+8 same same");
    drop(&f);
    follow(&f, writes, writes_end);
    expect(&f, writes_1, "no rule");
    drop(&f);
}

/* ---- the process's start */

CODE(begins, ".globl begins_1, begins_2\n"
             "pop %rsi\n"
             "lea begins_1(%rip),%rdi\n"
             "call *%rax\n"
             "hlt\n"
             ".skip 16, 0xcc\n"
             "begins_1: push %rbx\n"
             "begins_2: call *%rax\n"
             "jmp begins_2\n")
PLACE(begins_1)
PLACE(begins_2)

/* Without symbols and a return, main is a function by its address alone. */
static void test_main_that_does_not_return(void **state)
{
    struct followed f;
    const struct wndl_bytes bytes = {begins, (size_t)(begins_end - begins)};
    (void)state;
    f.text = (struct wndl_code_text){.code = {address(begins), bytes},
        .parts = &f.text.code,
        .part_count = 1,
        .start = address(begins)};
    wndl_arena_init(&f.arena, wndl_mem_libc());
    assert_true(wndl_code_flow_init(&f.flow, &f.text, &f.arena));
    wndl_code_flow_scan(&f.flow, address(begins), address(begins_end), false);
    assert_true(wndl_code_flow_run(&f.flow));
    expect(&f, begins_1, "sp+8 same same");
    expect(&f, begins_2, "sp+16 same c-16");
    drop(&f);
}

/* ---- bounds */

/* Loops that push, and jumps into the middle of instructions. */
static void test_hostile_code(void **state)
{
    enum { SIZE = 64 * 1024 };
    struct followed f;
    static uint8_t code[SIZE];
    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        code[i] = (uint8_t)(i % 3 == 0 ? 0x50 + i % 8 : i % 3 == 1 ? 0x75 : i);
    const struct wndl_bytes bytes = {code, SIZE};
    f.text = (struct wndl_code_text){.code = {0x1000, bytes}};
    wndl_arena_init(&f.arena, wndl_mem_libc());
    assert_true(wndl_code_flow_init(&f.flow, &f.text, &f.arena));
    assert_true(f.arena.taken < 6 * SIZE);
    wndl_code_flow_scan(&f.flow, 0x1000, 0x1000 + SIZE, true);
    assert_true(wndl_code_flow_run(&f.flow));
    assert_true(f.flow.work <= f.flow.most_work + SIZE);
    drop(&f);
}

/* Rules of a function of 4 GiB, which nothing forbids, end after all code. */
static void test_covered_far_away(void **state)
{
    enum { SIZE = 0x200 };
    struct followed f;
    static uint8_t code[SIZE];
    struct wndl_code_range far = {0x1100, 0x1100 + (UINT64_C(1) << 32)};
    (void)state;
    memset(code, 0xc3, SIZE);
    const struct wndl_bytes bytes = {code, SIZE};
    f.text =
        (struct wndl_code_text){.code = {0x1000, bytes}, .covered = {&far, 1}};
    wndl_arena_init(&f.arena, wndl_mem_libc());
    assert_true(wndl_code_flow_init(&f.flow, &f.text, &f.arena));
    wndl_code_flow_scan(&f.flow, 0x1000, 0x1000 + SIZE, true);
    assert_true(wndl_code_flow_run(&f.flow));
    drop(&f);
}

/* Instructions of vectors, of which some write registers or the stack. */
CODE(vectors, ".globl vectors_stores\n"
              "paddd %xmm0,%xmm1\n"
              "vpaddw (%rsp),%ymm1,%ymm2\n"
              "vpermi2w %zmm1,%zmm2,%zmm3{%k1}{z}\n"
              "pshufd $27,%xmm1,%xmm2\n"
              "movups 8(%rdi),%xmm4\n"
              "vectors_stores: movups %xmm1,-8(%rsp)\n"
              "vmovdqu %ymm1,(%rdi)\n"
              "vextracti128 $1,%ymm0,(%rdi)\n"
              "vpmovdb %zmm1,(%rdi)\n"
              "maskmovdqu %xmm1,%xmm2\n"
              "vpmovmskb %ymm1,%eax\n"
              "movd %xmm1,%ebx\n"
              "pextrw $1,%xmm1,%ecx\n"
              "pcmpestri $1,%xmm1,%xmm2\n"
              "andn %eax,%ebx,%ecx\n"
              "cvttsd2si %xmm1,%rax\n"
              "1: syscall\n"
              "ud2\n"
              "nopl 8(%rax,%rax)\n"
              "endbr64\n"
              "setz %al\n"
              "bswap %rbx\n"
              "jz 1b\n"
              "ret")
PLACE(vectors_stores)

/* At any byte, whether or not an instruction was meant to start there. */
static void test_plain_has_no_effect(void **state)
{
    (void)state;
    const uint64_t all[] = {address(vectors), address(vectors_end)};
    size_t plain = 0;
    for (uint64_t at = all[0]; at < all[1]; at++) {
        const struct wndl_bytes code = {
            vectors + (at - all[0]), (size_t)(all[1] - at)};
        struct wndl_insn_glance glance;
        struct wndl_insn insn;
        if (!wndl_insn_glance(WNDL_INSN_64, code, at, &glance) ||
            !glance.is_plain)
            continue;
        plain += at < address(vectors_stores);
        assert_true(wndl_insn_decode(WNDL_INSN_64, code, at, &insn));
        assert_int_equal(insn.size, glance.size);
        assert_int_equal(insn.op, WNDL_INSN_OTHER);
        assert_int_equal(insn.writes, 0);
        assert_int_equal(insn.stores, 0);
        assert_int_equal(insn.zeroes, WNDL_INSN_NO_REG);
        assert_false(insn.is_syscall || insn.is_padding);
    }
    assert_true(plain >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_has_no_effect),
        cmocka_unit_test(test_pushes),
        cmocka_unit_test(test_frame_pointer),
        cmocka_unit_test(test_enter_and_leave),
        cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_aligned_by_gcc),
        cmocka_unit_test(test_ways_that_disagree),
        cmocka_unit_test(test_call_that_does_not_return),
        cmocka_unit_test(test_loop_of_pages),
        cmocka_unit_test(test_return_with_another_stack),
        cmocka_unit_test(test_jump_table),
        cmocka_unit_test(test_jump_to_the_code_after_it),
        cmocka_unit_test(test_several_entries),
        cmocka_unit_test(test_entries_that_run_on),
        cmocka_unit_test(test_data_in_front_of_an_entry),
        cmocka_unit_test(test_data_behind_a_function),
        cmocka_unit_test(test_return_address),
        cmocka_unit_test(test_lost_register),
        cmocka_unit_test(test_callee_that_keeps_a_register),
        cmocka_unit_test(test_main_that_does_not_return),
        cmocka_unit_test(test_hostile_code),
        cmocka_unit_test(test_covered_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
