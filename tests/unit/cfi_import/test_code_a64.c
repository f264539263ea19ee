/* SPDX-License-Identifier: MIT */
/*
 * test_code_a64: rules from the code of small functions of AArch64, as GNU as
 * makes it. Targets are in instructions from the branch.
 */
#include "code_follow.h"

#define FOLLOW(f, code) follow_a64((f), (const uint8_t *)(code), sizeof(code))

static void follow_a64(struct followed *f, const uint8_t *code, size_t size)
{
    f->text = (struct wndl_code_text){.mode = WNDL_INSN_A64};
    follow_text(f, code, code + size);
}

/* "CFA X29 X19 X30", and whether the return address is signed. */
static void expect_at(const struct followed *f, const uint32_t *code,
    unsigned number, const char *wanted)
{
    expect(f, (const uint8_t *)&code[number], wanted);
}

/* A frame record, and a register that callees keep. */
static const uint32_t saves[] = {
    0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
    0x910003fd, /* mov x29, sp */
    0xf9000bf3, /* str x19, [sp, #16] */
    0xaa0003f3, /* mov x19, x0 */
    0xd63f0020, /* blr x1 */
    0xf9400bf3, /* ldr x19, [sp, #16] */
    0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
    0xd65f03c0, /* ret */
};

static void test_saves_registers(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, saves);
    expect_at(&f, saves, 1, "sp+32 c-32 same c-24");
    expect_at(&f, saves, 3, "x29+32 c-32 c-16 c-24");
    expect_at(&f, saves, 5, "x29+32 c-32 c-16 c-24");
    expect_at(&f, saves, 6, "x29+32 c-32 c-16 c-24");
    expect_at(&f, saves, 7, "sp+0 same same same");
    drop(&f);
}

/* Sizes that no instruction has room for. */
static const uint32_t large[] = {
    0xd284020c, /* mov x12, #0x2010 */
    0xcb2c63ff, /* sub sp, sp, x12 */
    0xf90003fe, /* str x30, [sp] */
    0xd280020c, /* mov x12, #0x10 */
    0xf2a0004c, /* movk x12, #0x2, lsl #16 */
    0xcb2c63ff, /* sub sp, sp, x12 */
    0xd63f0000, /* blr x0 */
    0xd280020c, /* mov x12, #0x10 */
    0xf2a0004c, /* movk x12, #0x2, lsl #16 */
    0x8b2c63ff, /* add sp, sp, x12 */
    0xf94003fe, /* ldr x30, [sp] */
    0xd284020c, /* mov x12, #0x2010 */
    0x8b2c63ff, /* add sp, sp, x12 */
    0xd65f03c0, /* ret */
};

static void test_large_frames(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, large);
    expect_at(&f, large, 2, "sp+8208 same same same");
    expect_at(&f, large, 6, "sp+139296 same same c-8208");
    expect_at(&f, large, 13, "sp+0 same same same");
    drop(&f);
}

static const uint32_t aligned[] = {
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x910003fd, /* mov x29, sp */
    0xd100c3e9, /* sub x9, sp, #0x30 */
    0x927ae53f, /* and sp, x9, #0xffffffffffffffc0 */
    0xf90007f3, /* str x19, [sp, #8] */
    0xaa0003f3, /* mov x19, x0 */
    0xd63f0020, /* blr x1 */
    0xf94007f3, /* ldr x19, [sp, #8] */
    0x910003bf, /* mov sp, x29 */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
};

static void test_aligned_frame(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, aligned);
    expect_at(&f, aligned, 4, "x29+16 c-16 same c-8");
    expect_at(&f, aligned, 5, "x29+16 c-16 [sp+8] c-8");
    expect_at(&f, aligned, 9, "x29+16 c-16 same c-8");
    drop(&f);
}

/* As -fstack-clash-protection makes for large frames. */
static const uint32_t probed[] = {
    0xd14017e9, /* sub x9, sp, #0x5, lsl #12 */
    0xd14007ff, /* sub sp, sp, #0x1, lsl #12 */
    0xf90203ff, /* str xzr, [sp, #1024] */
    0xeb2963ff, /* cmp sp, x9 */
    0x54ffffa1, /* b.ne -3 */
    0x914017ff, /* add sp, sp, #0x5, lsl #12 */
    0xd65f03c0, /* ret */
};

static void test_probe_of_the_stack(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, probed);
    expect_at(&f, probed, 5, "sp+20480 same");
    expect_at(&f, probed, 6, "sp+0 same");
    drop(&f);
}

/* Functions of dav1d keep it in x14 and x15. */
static const uint32_t linked[] = {
    0xaa1e03ef, /* mov x15, x30 */
    0x94000003, /* bl +3 */
    0xaa0103e0, /* mov x0, x1 */
    0xd65f01e0, /* ret x15 */
    0xaa1e03ee, /* mov x14, x30 */
    0x94000002, /* bl +2 */
    0xd61f01c0, /* br x14 */
    0x91000400, /* add x0, x0, #0x1 */
    0xd65f03c0, /* ret */
};

static void test_return_address_in_a_register(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, linked);
    expect_at(&f, linked, 1, "sp+0 same same same");
    expect_at(&f, linked, 2, "sp+0 same same x15+0");
    expect_at(&f, linked, 6, "sp+0 same same x14+0");
    drop(&f);
}

static const uint32_t spoiled[] = {
    0xaa1e03ef, /* mov x15, x30 */
    0x94000002, /* bl +2 */
    0xd65f01e0, /* ret x15 */
    0xaa0003ef, /* mov x15, x0 */
    0xd65f03c0, /* ret */
};

static void test_callee_that_writes_the_register(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, spoiled);
    expect_at(&f, spoiled, 2, "unreached");
    drop(&f);
}

static const uint32_t checked[] = {
    0xd503233f, /* paciasp */
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0xd63f0000, /* blr x0 */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xb4000060, /* cbz x0, +3 */
    0xd50323bf, /* autiasp */
    0xd65f03c0, /* ret */
    0xd65f0bff, /* retaa */
};

static void test_signed_return_address(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, checked);
    expect_at(&f, checked, 1, "sp+0 same same same signed");
    expect_at(&f, checked, 6, "sp+0 same same same");
    drop(&f);
}

/* Entries of a byte count instructions from an address, to both sides. */
static const uint32_t table[] = {
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x7100081f, /* cmp w0, #0x2 */
    0x54000188, /* b.hi +12 */
    0x100000a1, /* adr x1, +5 */
    0x38604820, /* ldrb w0, [x1, w0, uxtw] */
    0x100000e1, /* adr x1, +7 */
    0x8b208820, /* add x0, x1, w0, sxtb #2 */
    0xd61f0000, /* br x0 */
    0x01ff0100, /* .word 0x01ff0100 */
    0xd65f03c0, /* ret */
    0xd503201f, /* nop */
    0xd503201f, /* nop */
    0xd503201f, /* nop */
    0xd63f0020, /* blr x1 */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
};

static void test_table_of_jumps(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, table);
    expect_at(&f, table, 11, "sp+16 c-16 same c-8");
    expect_at(&f, table, 12, "sp+16 c-16 same c-8");
    expect_at(&f, table, 14, "sp+16 c-16 same c-8");
    drop(&f);
}

/* Entries that are subtracted from the address of the table behind the code. */
static const uint32_t behind[] = {
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x1000010a, /* adr x10, +8 */
    0x78697949, /* ldrh w9, [x10, x9, lsl #1] */
    0xcb29414a, /* sub x10, x10, w9, uxtw */
    0xd61f0140, /* br x10 */
    0xd503201f, /* nop */
    0xd503201f, /* nop */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
    0x0008000c, /* .hword 12, 8 */
};

static void test_table_behind_the_code(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, behind);
    expect_at(&f, behind, 6, "sp+16 c-16 same c-8");
    expect_at(&f, behind, 8, "sp+0 same same same");
    drop(&f);
}

/* Their saves and loads move SP. */
static const uint32_t vectors[] = {
    0x6dbc27e8, /* stp d8, d9, [sp, #-64]! */
    0x4c00afea, /* st1 {v10.2d, v11.2d}, [sp] */
    0x3c9f0fec, /* str q12, [sp, #-16]! */
    0x3cc107ec, /* ldr q12, [sp], #16 */
    0x4cdfa3e8, /* ld1 {v8.16b, v9.16b}, [sp], #32 */
    0x0cdf6bea, /* ld1 {v10.2s-v12.2s}, [sp], #24 */
    0x4ddf87ea, /* ld1 {v10.d}[1], [sp], #8 */
    0xd65f03c0, /* ret */
};

static void test_vectors(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, vectors);
    expect_at(&f, vectors, 1, "sp+64 same");
    expect_at(&f, vectors, 3, "sp+80 same");
    expect_at(&f, vectors, 5, "sp+32 same");
    expect_at(&f, vectors, 7, "sp+0 same same same");
    drop(&f);
}

static const uint32_t thread[] = {
    0xd4000001, /* svc #0x0 */
    0xb4000040, /* cbz x0, +2 */
    0xd65f03c0, /* ret */
    0xd280001d, /* mov x29, #0x0 */
    0xd63f0140, /* blr x10 */
    0xd4200000, /* brk #0x0 */
};

static void test_start_of_a_thread(void **state)
{
    struct followed f;
    struct wndl_code_state before;
    (void)state;
    FOLLOW(&f, thread);
    expect_at(&f, thread, 2, "sp+0 same same same");
    assert_true(wndl_code_flow_state(&f.flow, 4 * sizeof *thread, &before));
    assert_int_equal(before.is_start, 1);
    drop(&f);
}

/* From vectors, too. */
static const uint32_t spare[] = {
    0x9e66001e, /* fmov x30, d0 */
    0xd65f03c0, /* ret */
};

static void test_other_writers(void **state)
{
    struct followed f;
    (void)state;
    FOLLOW(&f, spare);
    expect_at(&f, spare, 1, "unreached");
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saves_registers),
        cmocka_unit_test(test_large_frames),
        cmocka_unit_test(test_aligned_frame),
        cmocka_unit_test(test_probe_of_the_stack),
        cmocka_unit_test(test_return_address_in_a_register),
        cmocka_unit_test(test_callee_that_writes_the_register),
        cmocka_unit_test(test_signed_return_address),
        cmocka_unit_test(test_table_of_jumps),
        cmocka_unit_test(test_table_behind_the_code),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_start_of_a_thread),
        cmocka_unit_test(test_other_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
