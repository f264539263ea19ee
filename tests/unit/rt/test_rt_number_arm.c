/* SPDX-License-Identifier: MIT */
/*
 * What r0 was before a system call, as Thumb code in front of it tells. Built
 * for other processors, the code is taken for Thumb's, and registers for 0.
 */
#include "testlib.h"

#include "rt/arch/syscall_number.h"

#include <stdint.h>

enum {
    NOP = 0xbf00,
    MOVS_R0_5 = 0x2005,
    MOVS_R7_162 = 0x27a2,
    MOV_R0_R4 = 0x4620,
    MOV_R4_R5 = 0x462c,
    CBZ_R1 = 0xb101,
};

static ucontext_t context;
static uint64_t first;

/* Behind as many that say nothing as make it plain. */
#define FIRST_OF(...)                                                          \
    wndl_rt_first_argument((const uint8_t *)(const uint16_t[]){NOP, NOP, NOP,  \
                               NOP, NOP, NOP, __VA_ARGS__},                    \
        sizeof((const uint16_t[]){NOP, NOP, NOP, NOP, NOP, NOP, __VA_ARGS__}), \
        &context, &first)

static void constants_are_told(void **state)
{
    (void)state;
    assert_true(FIRST_OF(MOVS_R0_5, MOVS_R7_162));
    assert_int_equal(first, 5);
    assert_true(FIRST_OF(0xf04f, 0x00ff)); /* mov.w r0, #255 */
    assert_int_equal(first, 255);
    assert_true(FIRST_OF(0xf06f, 0x0063, MOVS_R7_162)); /* mvn r0, #99 */
    assert_int_equal(first, (uint32_t)-100);
    assert_true(FIRST_OF(0xf241, 0x2034)); /* movw r0, #0x1234 */
    assert_int_equal(first, 0x1234);
    assert_true(FIRST_OF(0xf640, 0x0034)); /* movw r0, #0x834 */
    assert_int_equal(first, 0x834);
}

static void what_leaves_r0_alone_is_passed(void **state)
{
    (void)state;
    assert_true(FIRST_OF(MOV_R0_R4, MOVS_R7_162));
    assert_true(FIRST_OF(MOVS_R0_5, CBZ_R1, NOP));
    assert_int_equal(first, 5);
    assert_true(FIRST_OF(MOVS_R0_5, 0xe9cd, 0x0100)); /* strd r0, r1, [sp] */
    assert_true(FIRST_OF(MOVS_R0_5, 0x9001));         /* str r0, [sp, #4] */
    assert_true(FIRST_OF(MOVS_R0_5, 0x9902));         /* ldr r1, [sp, #8] */
    assert_int_equal(first, 5);
}

static void what_is_gone_is_not_made_up(void **state)
{
    (void)state;
    assert_false(FIRST_OF(NOP));
    assert_false(FIRST_OF(MOV_R0_R4, MOV_R4_R5));
    assert_false(FIRST_OF(MOVS_R0_5, 0x3001));         /* adds r0, #1 */
    assert_false(FIRST_OF(MOVS_R0_5, 0x9801));         /* ldr r0, [sp, #4] */
    assert_false(FIRST_OF(MOVS_R0_5, 0xe9dd, 0x0100)); /* ldrd r0, r1, [sp] */
    assert_false(FIRST_OF(MOVS_R0_5, 0xf000, 0xf800)); /* bl */
    assert_false(FIRST_OF(MOVS_R0_5, 0xfb04, 0x1305)); /* mla: not known */
    assert_false(FIRST_OF(MOVS_R0_5, 0x4770));         /* bx lr */
    assert_false(FIRST_OF(0x4668));                    /* mov r0, sp */
}

/* What the code begins with need not be an instruction: some have to follow,
 * and the last one has to end where the code does. */
static void code_is_read_from_any_start(void **state)
{
    static const uint16_t few[] = {NOP, NOP, NOP, NOP, MOVS_R0_5};
    static const uint16_t middle[] = {
        0x00ff, NOP, NOP, NOP, NOP, NOP, MOVS_R0_5, MOVS_R7_162};
    (void)state;
    assert_false(wndl_rt_first_argument(
        (const uint8_t *)few, sizeof few, &context, &first));
    assert_true(wndl_rt_first_argument(
        (const uint8_t *)middle, sizeof middle, &context, &first));
    assert_int_equal(first, 5);
    first = 0;
    assert_true(wndl_rt_first_argument(
        (const uint8_t *)middle + 1, sizeof middle - 1, &context, &first));
    assert_int_equal(first, 5);
    assert_false(FIRST_OF(MOVS_R0_5, 0xf04f));
    assert_false(
        wndl_rt_first_argument((const uint8_t *)middle, 0, &context, &first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_told),
        cmocka_unit_test(what_leaves_r0_alone_is_passed),
        cmocka_unit_test(what_is_gone_is_not_made_up),
        cmocka_unit_test(code_is_read_from_any_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
