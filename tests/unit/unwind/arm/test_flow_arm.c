/* SPDX-License-Identifier: MIT */
/* 32-bit Arm code, followed from its instructions to its return. */
#include "flow_arm_fixture.h"

#include <stdlib.h>

static void code_is_followed_from_each_instruction(void **state)
{
    static const struct {
        uint32_t at, depth;
    } in_thumb[] = {{0, 0}, {2, 4}, {4, 14}, {6, 14}, {10, 14}, {12, 4}},
      in_arm[] = {{0, 0}, {4, 2}, {8, 4}, {12, 6}, {16, 6}, {20, 4}, {24, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof in_thumb / sizeof *in_thumb; i++) {
        interrupt(thumb, sizeof thumb, in_thumb[i].at, in_thumb[i].depth);
        world.stack[ENTRY - 4] = 4;
        world.stack[ENTRY - 2] = 7;
        world.stack[ENTRY - 1] = thumb_ra;
        assert_true(step());
        expect_caller(thumb_ra, ENTRY);
        /* Pushed on the way: as it was. */
        assert_int_equal(get(4), in_thumb[i].depth == 0 ? 0x104 : 4);
        assert_int_equal(get(7), in_thumb[i].depth == 0 ? 0x107 : 7);
    }
    for (size_t i = 0; i < sizeof in_arm / sizeof *in_arm; i++) {
        interrupt(arm, sizeof arm, in_arm[i].at, in_arm[i].depth);
        set(WNDL_ARM_LR, arm_ra);
        world.stack[ENTRY - 2] = 4;
        world.stack[ENTRY - 1] = arm_ra;
        assert_true(step());
        expect_caller(arm_ra, ENTRY);
        assert_int_equal(get(4), in_arm[i].depth == 0 ? 0x104 : 4);
        assert_int_equal(get(11), 0x10b);
    }
}

static void calls_are_passed_over_and_take_lr(void **state)
{
    static const uint16_t takes[] = {0xf000, 0xf800, BX_LR};
    static const uint16_t leaf[] = {0x3001, BX_LR};
    (void)state;
    interrupt(takes, sizeof takes, 0, 0);
    assert_false(step());
    interrupt(leaf, sizeof leaf, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    /* Behind a call: LR is the callee's. */
    interrupt(takes, sizeof takes, 4, 0);
    world.full.interrupted = false;
    assert_false(step());
    interrupt(thumb, sizeof thumb, 10, 14);
    world.full.interrupted = false;
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    /* Behind no call, so not to be returned to. */
    interrupt(thumb, sizeof thumb, 12, 4);
    world.full.interrupted = false;
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
}

static void what_is_not_known_is_not_made_up(void **state)
{
    (void)state;
    interrupt(thumb, sizeof thumb, 0, 0);
    world.full.regs.valid &= ~(UINT64_C(1) << WNDL_ARM_LR);
    assert_false(step());
    interrupt(thumb, sizeof thumb, 0, 0);
    world.full.regs.valid &= ~(UINT64_C(1) << 7);
    assert_true(step());
    assert_int_equal(get(7), 0);
    assert_int_equal(get(4), 0x104);
    interrupt(thumb, sizeof thumb, 12, 4);
    world.stack[ENTRY - 1] = thumb_ra + 2; /* behind no call */
    assert_false(step());
    interrupt(thumb, sizeof thumb, 12, 0);
    set(WNDL_ARM_SP, address_of(WORDS)); /* beyond the stack */
    assert_false(step());
    interrupt(arm, sizeof arm, 2, 0); /* in the middle of an instruction */
    assert_false(step());
}

static void branches_are_taken_where_passing_them_over_leads_nowhere(
    void **state)
{
    static const uint16_t forwards[] = {0xb108, B_SELF, NOP, POP_R4_PC};
    static const uint16_t backwards[] = {POP_R4_PC, 0xd1fd, B_SELF};
    static const uint32_t in_arm[] = {
        0xe8bd8010, /* 0 pop {r4, pc} */
        0x1afffffd, /* 4 bne 0 */
        0xeafffffe, /* 8 b . */
        0x0a000001, /* 12 beq 24 */
        0xeafffffe, /* 16 b . */
        0xe1a00000, /* 20 nop */
        0x012fff1e, /* 24 bxeq lr, passed over */
        0xe8bd8010, /* 28 pop {r4, pc} */
    };
    static const struct {
        const void *code;
        size_t size;
        uint32_t at;
    } cases[] = {{forwards, sizeof forwards, 0},
        {backwards, sizeof backwards, 2}, {in_arm, sizeof in_arm, 4},
        {in_arm, sizeof in_arm, 12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        interrupt(cases[i].code, cases[i].size, cases[i].at, 2);
        world.stack[ENTRY - 1] = arm_ra;
        assert_true(step());
        expect_caller(arm_ra, ENTRY);
        assert_int_equal(get(4), 0x5a000000 + ENTRY - 2);
    }
}

/* What is done before a branch is kept for its way, what is done later not. */
static void a_way_has_what_its_branch_had(void **state)
{
    static const uint16_t code[] = {
        0xb580, /* 0 push {r7, lr} */
        0x466f, /* 2 mov r7, sp */
        0xb084, /* 4 sub sp, #16 */
        0xb118, /* 6 cbz r0, 16 */
        0xb084, /* 8 sub sp, #16 */
        0x462f, /* 10 mov r7, r5 */
        B_SELF, /* 12 b . */
        NOP,    /* 14 */
        0x46bd, /* 16 mov sp, r7 */
        0xbd80, /* 18 pop {r7, pc} */
    };
    (void)state;
    interrupt(code, sizeof code, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    assert_int_equal(get(7), 0x107);
}

/* Under a condition, of IT too, returns are not taken. */
static void what_is_done_under_a_condition(void **state)
{
    static const uint16_t returns[] = {
        0xbf08,    /* it eq */
        BX_LR,     /* bxeq lr */
        POP_R4_PC, /* pop {r4, pc} */
    };
    static const uint16_t moves[] = {0xbf08, 0xb082, BX_LR};
    static const uint32_t pushes[] = {0x092d4010, 0xe12fff1e};
    (void)state;
    interrupt(returns, sizeof returns, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(moves, sizeof moves, 0, 0);
    assert_false(step());
    interrupt(pushes, sizeof pushes, 0, 0);
    assert_false(step());
}

static void tail_calls_are_followed(void **state)
{
    static const uint16_t near[] = {
        0xe8bd, 0x4010, /* 0 pop.w {r4, lr} */
        0xf000, 0xb801, /* 4 b.w 10 */
        B_SELF,         /* 8 */
        0xb500,         /* 10 push {lr} */
        0xbd00,         /* 12 pop {pc} */
    };
    static const uint16_t far[] = {0xe8bd, 0x4010, 0xf000, 0xbfff};
    static const uint16_t unknown[] = {0xe8bd, 0x4010, 0x4718}; /* bx r3 */
    static const uint16_t by_stub[] = {NOP, 0xe7ff, 0x4778};    /* bx pc */
    (void)state;
    interrupt(near, sizeof near, 0, 2);
    world.stack[ENTRY - 2] = 4;
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    assert_int_equal(get(4), 4);
    interrupt(far, sizeof far, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
    interrupt(unknown, sizeof unknown, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(unknown, sizeof unknown, 4, 0); /* it may be a switch */
    assert_false(step());
    interrupt(by_stub, sizeof by_stub, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
}

static void where_sp_is_not_known_nothing_is(void **state)
{
    static const uint32_t aligned[] = {0xe3cdd007, 0xe12fff1e}; /* bic sp */
    static const uint32_t by_register[] = {0xe08dd001, 0xe12fff1e};
    static const uint32_t lower[] = {0xe24dd008, 0xe12fff1e};
    static const uint32_t of_r3[] = {0xe1a0d003, 0xe12fff1e}; /* mov sp, r3 */
    static const uint32_t popped[] = {0xe08dd001, 0xe8bd8010};
    static const uint32_t by_r11[] = {
        0xe08dd001, /* 0 add sp, sp, r1 */
        0xe1a0d00b, /* 4 mov sp, r11 */
        0xe8bd8800, /* 8 pop {r11, pc} */
    };
    (void)state;
    interrupt(aligned, sizeof aligned, 0, 0);
    assert_false(step());
    interrupt(by_register, sizeof by_register, 0, 0);
    assert_false(step());
    interrupt(lower, sizeof lower, 0, 0);
    assert_false(step());
    interrupt(of_r3, sizeof of_r3, 0, 0);
    world.full.regs.valid &= ~(UINT64_C(1) << 3);
    assert_false(step());
    interrupt(popped, sizeof popped, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
    interrupt(by_r11, sizeof by_r11, 0, 4);
    world.stack[ENTRY - 1] = arm_ra;
    set(11, address_of(ENTRY - 2));
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
}

/* Each instruction once, and not more than so many. */
static void loops_end(void **state)
{
    static const uint16_t each_other[] = {0xe000, NOP, 0xe7fc, B_SELF};
    static const uint16_t branches[] = {0xd0fe, 0xd1fd, 0xd2fc, 0xe7fb};
    static const uint32_t in_arm[] = {0x1afffffe, 0x0afffffd, 0xeafffffc};
    uint16_t *nops = malloc(MANY * sizeof *nops);
    (void)state;
    assert_non_null(nops);
    interrupt(each_other, sizeof each_other, 0, 0);
    assert_false(step());
    interrupt(branches, sizeof branches, 0, 0);
    assert_false(step());
    interrupt(in_arm, sizeof in_arm, 0, 0);
    assert_false(step());
    for (size_t i = 0; i < MANY; i++)
        nops[i] = NOP;
    nops[MANY - 1] = BX_LR;
    interrupt(nops, MANY * sizeof *nops, 0, 0);
    assert_false(step());
    interrupt(nops, MANY * sizeof *nops, 2 * 100, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    for (size_t i = 0; i < MANY; i++)
        nops[i] = 0xd000; /* beq, to behind the next */
    interrupt(nops, MANY * sizeof *nops, 0, 0);
    assert_false(step());
    free(nops);
}

static void stubs_of_linkage_tables_leave_lr_alone(void **state)
{
    static const uint32_t stub[] = {
        0xe28fc601, /* 0 add ip, pc, #1048576 */
        0xe28cca32, /* 4 add ip, ip, #204800 */
        0xe5bcf4a8, /* 8 ldr pc, [ip, #1192]! */
    };
    static const uint32_t from_thumb[] = {0x46c04778, /* bx pc; nop */
        0xe28fc601, 0xe28cca32, 0xe5bcf4a8};
    static const uint16_t call[] = {NOP, 0xf000, 0xe5bc, B_SELF}; /* blx */
    (void)state;
    interrupt(call, sizeof call, 2, 0);
    assert_false(step());
    for (uint32_t at = 0; at < sizeof stub; at += 4) {
        interrupt(stub, sizeof stub, at, 0);
        assert_true(step());
        expect_caller(thumb_ra, ENTRY);
        assert_int_equal(get(11), 0x10b);
    }
    interrupt(stub, sizeof stub, 0, 0);
    set(WNDL_ARM_LR, thumb_ra + 2);
    assert_false(step());
    interrupt(stub, sizeof stub - 4, 0, 0);
    assert_false(step());
    interrupt(from_thumb, sizeof from_thumb, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
}

/* Of a table of branches the first is taken. */
static void tables_of_branches_are_followed(void **state)
{
    static const uint16_t bytes[] = {0xe8df, 0xf000, /* 0 tbb [pc, r0] */
        0x0302, B_SELF, POP_R4_PC, B_SELF};
    static const uint16_t halfwords[] = {0xe8df, 0xf010, /* 0 tbh [pc, r0] */
        0x0002, 0x0003, POP_R4_PC, B_SELF};
    static const uint32_t in_arm[] = {
        0xe08ff003, /* 0 add pc, pc, r3 */
        0xeafffffe, /* 4 b . */
        0xe8bd8010, /* 8 pop {r4, pc} */
    };
    (void)state;
    interrupt(in_arm, sizeof in_arm, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(bytes, sizeof bytes, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(halfwords, sizeof halfwords, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_true(step());
    expect_caller(arm_ra, ENTRY);
    interrupt(bytes, 4, 0, 2);
    assert_false(step());
}

/* bx lr as Thumb code, and behind what passes for conditional as ARM code. */
static void code_that_may_be_both_is_followed_to_one_caller(void **state)
{
    static const uint16_t both[] = {BX_LR, BX_LR, 0xff1e, 0xe12f};
    static const uint16_t others[] = {POP_R4_PC, BX_LR, 0xff1e, 0xe12f};
    static const uint16_t one[] = {BX_LR, BX_LR, 0xff1e, 0xe1a0};
    (void)state;
    interrupt(both, sizeof both, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
    interrupt(others, sizeof others, 0, 2);
    world.stack[ENTRY - 1] = arm_ra;
    assert_false(step());
    interrupt(one, sizeof one, 0, 0);
    assert_true(step());
    expect_caller(thumb_ra, ENTRY);
}

static void interrupt_in_prefix(struct wndl_bytes prefix, void *context)
{
    const size_t *whole = context;
    interrupt(prefix.data, prefix.size, 0, 0);
    assert_int_equal(step(), prefix.size == *whole);
}

static void code_may_end_anywhere(void **state)
{
    size_t size = sizeof thumb;
    (void)state;
    for_each_truncation((struct wndl_bytes){(const uint8_t *)thumb, size},
        interrupt_in_prefix, &size);
    size = sizeof arm;
    for_each_truncation((struct wndl_bytes){(const uint8_t *)arm, size},
        interrupt_in_prefix, &size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_followed_from_each_instruction),
        cmocka_unit_test(calls_are_passed_over_and_take_lr),
        cmocka_unit_test(what_is_not_known_is_not_made_up),
        cmocka_unit_test(
            branches_are_taken_where_passing_them_over_leads_nowhere),
        cmocka_unit_test(a_way_has_what_its_branch_had),
        cmocka_unit_test(what_is_done_under_a_condition),
        cmocka_unit_test(tail_calls_are_followed),
        cmocka_unit_test(where_sp_is_not_known_nothing_is),
        cmocka_unit_test(loops_end),
        cmocka_unit_test(stubs_of_linkage_tables_leave_lr_alone),
        cmocka_unit_test(tables_of_branches_are_followed),
        cmocka_unit_test(code_that_may_be_both_is_followed_to_one_caller),
        cmocka_unit_test(code_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
