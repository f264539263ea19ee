/* SPDX-License-Identifier: MIT */
/*
 * AArch64 functions of which the body's rules are known: the rows that come of
 * their code, and code that is not believed.
 */
#include "testlib.h"

#include "cfi_import/macho/a64_rows.h"

#include <stdio.h>
#include <string.h>

enum { START = 0x1000, MOST = 64 };

enum {
    SUB_SP_64 = 0xd10103ff,
    STP_X20_X19_32 = 0xa9024ff4,
    STP_FP_LR_48 = 0xa9037bfd,
    ADD_FP_48 = 0x9100c3fd,
    MOV_SP_X9 = 0x9100013f,
    SUB_SP_FP_48 = 0xd100c3bf,
    BL = 0x94000000,
    LDP_FP_LR_48 = 0xa9437bfd,
    LDP_X20_X19_32 = 0xa9424ff4,
    ADD_SP_64 = 0x910103ff,
    RET = 0xd65f03c0,
    BRK = 0xd4200020,
    STR_X20_8 = 0xf90007f4,
    LDR_X20_8 = 0xf94007f4,
    STP_FP_LR_PRE_16 = 0xa9bf7bfd,
    MOV_FP_SP = 0x910003fd,
    LDP_FP_LR_POST_16 = 0xa8c17bfd,
};

static struct wndl_cfi_rule at_offset(int64_t offset)
{
    return (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = offset};
}

static struct wndl_cfi_row body_by(uint8_t reg, int64_t offset)
{
    struct wndl_cfi_row row = {.start = START, .ra_reg = 30};
    row.cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER, .reg = reg, .offset = offset};
    return row;
}

/* CFA by X29, of which `pairs` more pairs are saved below. */
static struct wndl_cfi_row framed(unsigned pairs)
{
    struct wndl_cfi_row row = body_by(29, 16);
    row.regs[30] = at_offset(-8);
    row.regs[29] = at_offset(-16);
    for (unsigned i = 0; i < 2 * pairs; i++)
        row.regs[19 + i] = at_offset(-24 - 8 * (int64_t)i);
    return row;
}

/* "+4 sp+64 x19:-24": from where on, the CFA, registers that are saved. */
static bool put_row(void *context, const struct wndl_cfi_row *row)
{
    char *text = context;
    sprintf(text + strlen(text), "%s+%u %s+%d", *text == '\0' ? "" : "; ",
        (unsigned)(row->start - START), row->cfa.reg == 29 ? "fp" : "sp",
        (int)row->cfa.offset);
    for (unsigned i = 0; i < 31; i++)
        if (row->regs[i].kind == WNDL_RULE_OFFSET)
            sprintf(
                text + strlen(text), " x%u:%d", i, (int)row->regs[i].offset);
    return true;
}

/* False where the code is not believed; else `text` has the rows. */
static bool rows_of(
    struct wndl_bytes code, const struct wndl_cfi_row *body, char text[4096])
{
    struct wndl_arena arena;
    struct wndl_frame_writer w;
    struct wndl_cfi_section frame;
    struct wndl_fde fde;
    const struct wndl_frame_function f = {START, START + MOST * 4, 0, false};
    const struct wndl_a64_function function = {
        START, START + code.size, code, body};
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_frame_writer_init(&w, &arena, 8, 30);
    wndl_frame_writer_bound(&w, 1 << 20);
    assert_true(wndl_frame_writer_begin(&w, &f));
    const bool is_followed = wndl_a64_write_rows(&w, &function);
    if (!is_followed)
        wndl_frame_writer_row(&w, body);
    assert_true(wndl_frame_writer_end(&w));
    assert_true(wndl_frame_writer_take(&w, &arena, &frame));
    frame.family = WNDL_CFI_AARCH64;
    *text = '\0';
    assert_int_equal(wndl_fde_scan(&frame, START, &fde, NULL), WNDL_OK);
    assert_int_equal(wndl_cfi_rows(&frame, &fde, put_row, text, NULL), WNDL_OK);
    wndl_arena_free(&arena);
    return is_followed;
}

static void expect(const uint32_t *words, size_t size,
    const struct wndl_cfi_row *body, const char *expected)
{
    char text[4096];
    const struct wndl_bytes code = {(const uint8_t *)words, size};
    assert_int_equal(rows_of(code, body, text), expected != NULL);
    if (expected != NULL)
        assert_string_equal(text, expected);
}

static const uint32_t usual[] = {SUB_SP_64, STP_X20_X19_32, STP_FP_LR_48,
    ADD_FP_48, BL, LDP_FP_LR_48, LDP_X20_X19_32, ADD_SP_64, RET};

static void prologue_and_epilogue_are_followed(void **state)
{
    const struct wndl_cfi_row body = framed(1);
    (void)state;
    expect(usual, sizeof usual, &body,
        "+0 sp+0; +4 sp+64; +8 sp+64 x19:-24 x20:-32; "
        "+12 sp+64 x19:-24 x20:-32 x29:-16 x30:-8; "
        "+16 fp+16 x19:-24 x20:-32 x29:-16 x30:-8; "
        "+24 sp+64 x19:-24 x20:-32; +28 sp+64; +32 sp+0");
    static const uint32_t lowering[] = {
        STP_FP_LR_PRE_16, MOV_FP_SP, BL, LDP_FP_LR_POST_16, RET};
    const struct wndl_cfi_row small = framed(0);
    expect(lowering, sizeof lowering, &small,
        "+0 sp+0; +4 sp+16 x29:-16 x30:-8; +8 fp+16 x29:-16 x30:-8; "
        "+16 sp+0");
}

/* Behind the frame record SP may go anywhere, and be fetched back by X29. */
static void a_frame_may_grow(void **state)
{
    static const uint32_t code[] = {SUB_SP_64, STP_FP_LR_48, ADD_FP_48,
        MOV_SP_X9, BL, SUB_SP_FP_48, LDP_FP_LR_48, ADD_SP_64, RET};
    static const uint32_t lost[] = {SUB_SP_64, STP_FP_LR_48, ADD_FP_48,
        MOV_SP_X9, BL, LDP_FP_LR_48, ADD_SP_64, RET};
    const struct wndl_cfi_row body = framed(0);
    (void)state;
    expect(code, sizeof code, &body,
        "+0 sp+0; +4 sp+64; +8 sp+64 x29:-16 x30:-8; "
        "+12 fp+16 x29:-16 x30:-8; +28 sp+64; +32 sp+0");
    /* Where X29 is loaded from tells where SP is. */
    expect(lost, sizeof lost, &body,
        "+0 sp+0; +4 sp+64; +8 sp+64 x29:-16 x30:-8; "
        "+12 fp+16 x29:-16 x30:-8; +24 sp+64; +28 sp+0");
}

/* Neither saves the caller's register, nor gives it back. */
static void other_stores_are_of_no_interest(void **state)
{
    static const uint32_t code[] = {SUB_SP_64, STP_X20_X19_32, STP_FP_LR_48,
        ADD_FP_48, STR_X20_8, BL, LDR_X20_8, LDP_FP_LR_48, LDP_X20_X19_32,
        ADD_SP_64, RET};
    const struct wndl_cfi_row body = framed(1);
    (void)state;
    expect(code, sizeof code, &body,
        "+0 sp+0; +4 sp+64; +8 sp+64 x19:-24 x20:-32; "
        "+12 sp+64 x19:-24 x20:-32 x29:-16 x30:-8; "
        "+16 fp+16 x19:-24 x20:-32 x29:-16 x30:-8; "
        "+32 sp+64 x19:-24 x20:-32; +36 sp+64; +40 sp+0");
}

static void branches_bring_what_held(void **state)
{
    static const uint32_t cbz_to_24 = 0xb40000c0, b_to_16 = 0x17fffffe;
    const uint32_t code[] = {cbz_to_24, STP_FP_LR_PRE_16, MOV_FP_SP, BL, BL,
        BRK, RET, LDP_FP_LR_POST_16, RET};
    const uint32_t back[] = {
        STP_FP_LR_PRE_16, MOV_FP_SP, BL, LDP_FP_LR_POST_16, RET, BL, b_to_16};
    const struct wndl_cfi_row body = framed(0);
    (void)state;
    expect(code, sizeof code, &body,
        "+0 sp+0; +8 sp+16 x29:-16 x30:-8; +12 fp+16 x29:-16 x30:-8; "
        "+24 sp+0; +28 fp+16 x29:-16 x30:-8; +32 sp+0");
    expect(back, sizeof back, &body,
        "+0 sp+0; +4 sp+16 x29:-16 x30:-8; +8 fp+16 x29:-16 x30:-8; "
        "+16 sp+0; +20 fp+16 x29:-16 x30:-8");
}

static void leaves_have_frames_by_sp(void **state)
{
    static const uint32_t code[] = {
        SUB_SP_64, STR_X20_8, ADD_SP_64, RET, SUB_SP_64, ADD_SP_64, RET};
    static const uint32_t none[] = {RET};
    const struct wndl_cfi_row body = body_by(31, 64), empty = body_by(31, 0);
    (void)state;
    /* What is behind it may be another function: its body's rules are told. */
    expect(code, sizeof code, &body,
        "+0 sp+0; +4 sp+64; +12 sp+0; +16 sp+64; +24 sp+0");
    expect(none, sizeof none, &empty, "+0 sp+0");
}

static void code_that_does_otherwise_is_not_believed(void **state)
{
    static const uint32_t calls[] = {SUB_SP_64, BL, STP_FP_LR_48, ADD_FP_48};
    static const uint32_t returns[] = {SUB_SP_64, STP_FP_LR_48, ADD_FP_48, RET};
    static const uint32_t moves[] = {
        SUB_SP_64, MOV_SP_X9, STP_FP_LR_48, ADD_FP_48};
    static const uint32_t rises[] = {ADD_SP_64, SUB_SP_64, SUB_SP_64};
    struct wndl_cfi_row body = framed(0);
    (void)state;
    expect(calls, sizeof calls, &body, NULL);
    expect(returns, sizeof returns, &body, NULL);
    expect(moves, sizeof moves, &body, NULL);
    expect(usual, 8, &body, NULL);
    body = body_by(19, 0);
    expect(usual, sizeof usual, &body, NULL);
    body = body_by(31, 64);
    expect(rises, sizeof rises, &body, NULL);
}

static void look(struct wndl_bytes prefix, void *context)
{
    char text[4096];
    (void)rows_of(prefix, context, text);
}

static void any_code_has_rows_in_order(void **state)
{
    struct wndl_cfi_row bodies[] = {framed(1), body_by(31, 64)};
    uint32_t words[MOST], seed = 1;
    char text[4096];
    (void)state;
    for_each_truncation(
        (struct wndl_bytes){(const uint8_t *)usual, sizeof usual}, look,
        &bodies[0]);
    for (unsigned round = 0; round < 20000; round++) {
        for (size_t i = 0; i < MOST; i++) {
            seed = seed * 1664525 + 1013904223;
            const uint32_t pick = seed >> 8;
            words[i] = usual[pick % (sizeof usual / sizeof *usual)] ^
                       (pick % 7 == 0 ? UINT32_C(1) << (pick >> 16) % 32 : 0);
        }
        const struct wndl_bytes code = {(const uint8_t *)words, 40};
        (void)rows_of(code, &bodies[round % 2], text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prologue_and_epilogue_are_followed),
        cmocka_unit_test(a_frame_may_grow),
        cmocka_unit_test(other_stores_are_of_no_interest),
        cmocka_unit_test(branches_bring_what_held),
        cmocka_unit_test(leaves_have_frames_by_sp),
        cmocka_unit_test(code_that_does_otherwise_is_not_believed),
        cmocka_unit_test(any_code_has_rows_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
