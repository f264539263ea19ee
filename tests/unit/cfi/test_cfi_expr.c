/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "cfi/cfi_expr.h"
#include "cfibuild.h"

static const struct wndl_cfi_section wide = {.address_size = 8};
static const struct wndl_cfi_section wide_big = {
    .address_size = 8, .big_endian = true};
static const struct wndl_cfi_section narrow = {.address_size = 4};

/* Memory that is readable in [base, base + size) only. */
struct image {
    uint64_t base;
    size_t size;
    uint8_t data[256];
};

static bool read_image(void *context, uint64_t address, void *to, size_t size)
{
    const struct image *image = context;
    if (address < image->base || address - image->base > image->size ||
        size > image->size - (address - image->base))
        return false;
    memcpy(to, image->data + (address - image->base), size);
    return true;
}

static struct image image = {
    .base = 0x7000,
    .size = 16,
    .data = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99},
};

static const struct wndl_cfi_memory memory = {read_image, &image};

/* Register n is 0x1000 + 16 n; register 5 is not known. */
static struct wndl_cfi_regs registers(void)
{
    struct wndl_cfi_regs regs = {.valid = 0x1ffff & ~(UINT32_C(1) << 5)};
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        regs.regs[i] = 0x1000 + 16 * i;
    return regs;
}

static enum wndl_status eval(struct wndl_bytes expr,
    const struct wndl_cfi_section *section, uint64_t *result)
{
    struct wndl_cfi_regs regs = registers();
    struct wndl_expr_view view = {section, &regs, &memory};
    return wndl_expr_eval(expr, &view, NULL, result);
}

#define GIVES(section, expected, ...)                                          \
    do {                                                                       \
        uint64_t result_ = 0;                                                  \
        assert_int_equal(                                                      \
            eval(CFI_BYTES(__VA_ARGS__), section, &result_), WNDL_OK);         \
        assert_int_equal(result_, expected);                                   \
    } while (0)

#define FAILS(section, status, ...)                                            \
    do {                                                                       \
        uint64_t result_ = 0;                                                  \
        assert_int_equal(                                                      \
            eval(CFI_BYTES(__VA_ARGS__), section, &result_), status);          \
    } while (0)

static void constants_are_read_in_both_byte_orders(void **state)
{
    (void)state;
    GIVES(&wide, 0, 0x30);
    GIVES(&wide, 31, 0x4f);
    GIVES(&wide, 0xfe, 0x08, 0xfe);
    GIVES(&wide, UINT64_MAX - 1, 0x09, 0xfe);
    GIVES(&wide, 0xfe01, 0x0a, 0x01, 0xfe);
    GIVES(&wide_big, 0x01fe, 0x0a, 0x01, 0xfe);
    GIVES(&wide, (uint64_t)-0x1ff, 0x0b, 0x01, 0xfe);
    GIVES(&wide, 0x84030201, 0x0c, 1, 2, 3, 0x84);
    GIVES(&wide, (uint64_t)(int32_t)0x84030201, 0x0d, 1, 2, 3, 0x84);
    GIVES(&wide, 0x8807060504030201, 0x0e, 1, 2, 3, 4, 5, 6, 7, 0x88);
    GIVES(&wide_big, 0x0102030405060788, 0x0f, 1, 2, 3, 4, 5, 6, 7, 0x88);
    GIVES(&wide, 0x90, 0x10, 0x90, 0x01);
    GIVES(&wide, (uint64_t)-0x70, 0x11, 0x90, 0x7f);
    GIVES(&wide, 0x8807060504030201, 0x03, 1, 2, 3, 4, 5, 6, 7, 0x88);
    GIVES(&narrow, 0x84030201, 0x03, 1, 2, 3, 0x84);
}

static void registers_are_read_with_offsets(void **state)
{
    (void)state;
    GIVES(&wide, 0x1070 + 8, 0x77, 8);
    GIVES(&wide, 0x1100 - 1, 0x80, 0x7f);
    GIVES(&wide, 0x1030 + 0x80, 0x92, 3, 0x80, 1);
    FAILS(&wide, WNDL_IO, 0x75, 0);
    FAILS(&wide, WNDL_IO, 0x81, 0);
    FAILS(&wide, WNDL_IO, 0x92, 0x90, 1, 0);
}

static void stack_operations_move_what_they_say(void **state)
{
    (void)state;
    GIVES(&wide, 6, 0x33, 0x12, 0x22);                /* dup */
    GIVES(&wide, 1, 0x31, 0x32, 0x13);                /* drop */
    GIVES(&wide, 1, 0x31, 0x32, 0x14);                /* over */
    GIVES(&wide, 1, 0x31, 0x32, 0x33, 0x15, 2);       /* pick */
    GIVES(&wide, 3, 0x31, 0x32, 0x33, 0x15, 0);       /* pick the top */
    GIVES(&wide, UINT64_MAX, 0x33, 0x32, 0x16, 0x1c); /* swap, 2 - 3 */
}

/* The three values after DW_OP_rot of 1 2 3 are, from below, 3 1 2. */
static void rot_puts_the_top_under_the_next_two(void **state)
{
    (void)state;
    GIVES(&wide, 2, 0x31, 0x32, 0x33, 0x17);
    GIVES(&wide, 1, 0x31, 0x32, 0x33, 0x17, 0x13);
    GIVES(&wide, 3, 0x31, 0x32, 0x33, 0x17, 0x13, 0x13);
}

static void arithmetic_has_the_width_of_an_address(void **state)
{
    (void)state;
    GIVES(&wide, 5, 0x09, 0xfb, 0x19);                  /* abs -5 */
    GIVES(&wide, 5, 0x35, 0x19);                        /* abs 5 */
    GIVES(&wide, 8, 0x3c, 0x3a, 0x1a);                  /* 12 & 10 */
    GIVES(&wide, (uint64_t)-2, 0x09, 0xfa, 0x33, 0x1b); /* -6 / 3 */
    GIVES(&wide, 4, 0x37, 0x33, 0x1c);                  /* 7 - 3 */
    GIVES(&wide, 1, 0x37, 0x33, 0x1d);                  /* 7 % 3 */
    GIVES(&wide, 21, 0x37, 0x33, 0x1e);                 /* 7 * 3 */
    GIVES(&wide, (uint64_t)-7, 0x37, 0x1f);             /* -7 */
    GIVES(&wide, ~UINT64_C(7), 0x37, 0x20);             /* ~7 */
    GIVES(&wide, 7, 0x36, 0x33, 0x21);                  /* 6 | 3 */
    GIVES(&wide, 10, 0x37, 0x33, 0x22);                 /* 7 + 3 */
    GIVES(&wide, 0x87, 0x37, 0x23, 0x80, 1);            /* 7 + 128 */
    GIVES(&wide, 5, 0x36, 0x33, 0x27);                  /* 6 ^ 3 */
    GIVES(&narrow, 0xfffffff9, 0x37, 0x1f);
    GIVES(&narrow, 0xfffffffe, 0x09, 0xfa, 0x33, 0x1b);
    GIVES(&narrow, 0, 0x09, 0xff, 0x31, 0x22);
    /* modulo is unsigned, division signed: DWARF 5, 2.5.1.4 */
    GIVES(&wide, UINT64_MAX % 7, 0x09, 0xff, 0x37, 0x1d);
    GIVES(&narrow, UINT32_MAX % 7, 0x09, 0xff, 0x37, 0x1d);
}

static void division_traps_nothing(void **state)
{
    (void)state;
    FAILS(&wide, WNDL_MALFORMED, 0x37, 0x30, 0x1b);
    FAILS(&wide, WNDL_MALFORMED, 0x37, 0x30, 0x1d);
    GIVES(&wide, UINT64_C(1) << 63, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff,
        0x1b);
    GIVES(&narrow, UINT32_C(1) << 31, 0x0c, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b);
}

static void shifts_by_the_width_or_more_leave_sign_or_nothing(void **state)
{
    (void)state;
    GIVES(&wide, 0x70, 0x37, 0x34, 0x24);
    GIVES(&wide, 7, 0x08, 0x70, 0x34, 0x25);
    GIVES(&wide, 0x0fffffffffffffff, 0x09, 0xff, 0x34, 0x25);
    GIVES(&wide, (uint64_t)-1, 0x09, 0xf0, 0x34, 0x26);
    GIVES(&wide, 0, 0x37, 0x08, 64, 0x24);
    GIVES(&wide, 0, 0x09, 0xff, 0x08, 64, 0x25);
    GIVES(&wide, UINT64_MAX, 0x09, 0xff, 0x08, 200, 0x26);
    GIVES(&wide, 0, 0x37, 0x08, 200, 0x26);
    GIVES(&narrow, 0, 0x37, 0x08, 32, 0x24);
    GIVES(&narrow, UINT32_MAX, 0x09, 0xff, 0x08, 32, 0x26);
    GIVES(&narrow, 0x0fffffff, 0x09, 0xff, 0x34, 0x25);
}

static void comparisons_are_signed(void **state)
{
    (void)state;
    static const struct {
        uint8_t op, less, equal, greater;
    } cases[] = {
        {0x29, 0, 1, 0},
        {0x2a, 0, 1, 1},
        {0x2b, 0, 0, 1},
        {0x2c, 1, 1, 0},
        {0x2d, 1, 0, 0},
        {0x2e, 1, 0, 1},
    };
    for (unsigned i = 0; i < 6; i++) {
        GIVES(&wide, cases[i].less, 0x09, 0xff, 0x31, cases[i].op);
        GIVES(&wide, cases[i].equal, 0x31, 0x31, cases[i].op);
        GIVES(&wide, cases[i].greater, 0x31, 0x09, 0xff, cases[i].op);
        GIVES(&narrow, cases[i].less, 0x09, 0xff, 0x31, cases[i].op);
    }
}

static void jumps_count_from_after_their_operand(void **state)
{
    (void)state;
    GIVES(&wide, 2, 0x2f, 1, 0, 0x31, 0x32);
    GIVES(&wide_big, 2, 0x2f, 0, 1, 0x31, 0x32);
    GIVES(&wide, 5, 0x35, 0x31, 0x28, 1, 0, 0x36);
    GIVES(&wide, 6, 0x35, 0x30, 0x28, 1, 0, 0x36);
    GIVES(&wide, 5, 0x35, 0x2f, 0, 0); /* to the very end */
    /* 5, then subtract 1 until it is 0: backwards */
    GIVES(&wide, 0, 0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff);
    FAILS(&wide, WNDL_MALFORMED, 0x35, 0x2f, 1, 0);
    FAILS(&wide, WNDL_MALFORMED, 0x35, 0x2f, 0xfb, 0xff);
}

static void memory_is_read_at_every_size(void **state)
{
    (void)state;
    GIVES(&wide, 0x8877665544332211, 0x0a, 0, 0x70, 0x06);
    GIVES(&wide_big, 0x1122334455667788, 0x0a, 0x70, 0, 0x06);
    GIVES(&narrow, 0x44332211, 0x0a, 0, 0x70, 0x06);
    GIVES(&wide, 0x11, 0x0a, 0, 0x70, 0x94, 1);
    GIVES(&wide, 0x332211, 0x0a, 0, 0x70, 0x94, 3);
    GIVES(&wide, 0x99, 0x0a, 8, 0x70, 0x06);
    FAILS(&wide, WNDL_IO, 0x0a, 9, 0x70, 0x06);
    FAILS(&wide, WNDL_IO, 0x30, 0x06);
    FAILS(&wide, WNDL_MALFORMED, 0x0a, 0, 0x70, 0x94, 0);
    FAILS(&wide, WNDL_MALFORMED, 0x0a, 0, 0x70, 0x94, 9);
    FAILS(&narrow, WNDL_MALFORMED, 0x0a, 0, 0x70, 0x94, 8);
}

static void what_has_no_place_in_cfi_is_unsupported(void **state)
{
    (void)state;
    /* xderef, reg0, fbreg, piece, push_object_address, call_frame_cfa,
       stack_value, GNU_entry_value */
    static const uint8_t refused[] = {
        0x18, 0x50, 0x91, 0x93, 0x97, 0x9c, 0x9f, 0xf3, 0x00, 0x07};
    for (unsigned i = 0; i < sizeof refused; i++)
        FAILS(&wide, WNDL_UNSUPPORTED, 0x31, 0x31, refused[i], 0, 0);
    GIVES(&wide, 1, 0x31, 0x96); /* nop */
}

static void too_few_values_are_malformed(void **state)
{
    (void)state;
    static const uint8_t ops[] = {0x06, 0x12, 0x13, 0x14, 0x16, 0x17, 0x19,
        0x1a, 0x22, 0x1b, 0x28, 0x29, 0x1f};
    FAILS(&wide, WNDL_MALFORMED, 0x96);
    FAILS(&wide, WNDL_MALFORMED, 0x31, 0x13);
    FAILS(&wide, WNDL_MALFORMED, 0x31, 0x15, 1);
    FAILS(&wide, WNDL_MALFORMED, 0x31, 0x32, 0x17);
    FAILS(&wide, WNDL_MALFORMED, 0x31, 0x22);
    for (unsigned i = 0; i < sizeof ops; i++)
        FAILS(&wide, WNDL_MALFORMED, ops[i], 0, 0);
}

static void evaluation_is_bounded(void **state)
{
    (void)state;
    uint8_t pushes[65];
    uint64_t result = 0;
    memset(pushes, 0x31, sizeof pushes);
    assert_int_equal(
        eval((struct wndl_bytes){pushes, 64}, &wide, &result), WNDL_OK);
    assert_int_equal(
        eval((struct wndl_bytes){pushes, 65}, &wide, &result), WNDL_LIMIT);
    FAILS(&wide, WNDL_LIMIT, 0x31, 0x2f, 0xfd, 0xff);
    uint8_t nops[1025];
    memset(nops, 0x96, sizeof nops);
    nops[0] = 0x31;
    assert_int_equal(
        eval((struct wndl_bytes){nops, 1024}, &wide, &result), WNDL_OK);
    assert_int_equal(
        eval((struct wndl_bytes){nops, 1025}, &wide, &result), WNDL_LIMIT);
}

static void the_initial_value_is_pushed_first(void **state)
{
    (void)state;
    struct wndl_cfi_regs regs = registers();
    struct wndl_expr_view view = {&wide, &regs, &memory};
    uint64_t cfa = 0x4000;
    uint64_t result = 0;
    assert_int_equal(
        wndl_expr_eval(CFI_BYTES(0x23, 8), &view, &cfa, &result), WNDL_OK);
    assert_int_equal(result, 0x4008);
    assert_int_equal(
        wndl_expr_eval((struct wndl_bytes){0}, &view, &cfa, &result), WNDL_OK);
    assert_int_equal(result, 0x4000);
}

/* CFA = RSP + 8 + ((RIP & 15) >= 11) << 3: what linkers give PLT entries. */
static void the_plt_expression_sees_the_push(void **state)
{
    (void)state;
    static const uint8_t plt[] = {
        0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
    struct wndl_bytes expr = {plt, sizeof plt};
    struct wndl_cfi_regs regs = registers();
    struct wndl_expr_view view = {&wide, &regs, &memory};
    for (unsigned at = 0; at < 16; at++) {
        uint64_t result = 0;
        regs.regs[16] = 0x401020 + at;
        assert_int_equal(wndl_expr_eval(expr, &view, NULL, &result), WNDL_OK);
        assert_int_equal(result, regs.regs[7] + (at < 11 ? 8 : 16));
    }
}

static void eval_prefix(struct wndl_bytes prefix, void *context)
{
    uint64_t result = 0;
    enum wndl_status status = eval(prefix, context, &result);
    if (status != WNDL_OK)
        assert_int_equal(status, WNDL_MALFORMED);
}

static void eval_never_reads_beyond_an_expression_cut_short(void **state)
{
    (void)state;
    struct wndl_cfi_section sections[] = {wide, wide_big};
    struct wndl_bytes expr = CFI_BYTES(0x77, 0x80, 1, 0x0c, 1, 2, 3, 4, 0x0a, 1,
        2, 0x08, 1, 0x0e, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 0x23, 0x80, 1, 0x92,
        0x83, 0, 0x7f, 0x10, 0x80, 1, 0x11, 0x80, 1, 0x03, 1, 2, 3, 4, 5, 6, 7,
        8, 0x30, 0x28, 0, 0);
    for (int i = 0; i < 2; i++)
        for_each_truncation(expr, eval_prefix, &sections[i]);
}

/* A row with CFA = RSP + 16, RA at CFA - 8, all else unset. */
static struct wndl_cfi_row plain_row(void)
{
    struct wndl_cfi_row row = {.ra_reg = 16};
    row.cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER, .reg = 7, .offset = 16};
    row.regs[16] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = -8};
    return row;
}

/* Four words at 0x7000: 0xa0, 0xa1, 0xa2, 0xa3; RSP = 0x7000. */
static struct image words(void)
{
    struct image w = {.base = 0x7000, .size = 32};
    for (unsigned i = 0; i < 4; i++)
        w.data[8 * i] = (uint8_t)(0xa0 + i);
    return w;
}

static enum wndl_status step(
    const struct wndl_cfi_row *row, struct wndl_cfi_regs *caller)
{
    struct image w = words();
    struct wndl_cfi_memory from_words = {read_image, &w};
    struct wndl_cfi_regs callee = registers();
    callee.regs[7] = 0x7000;
    return wndl_cfi_step(&wide, row, &callee, &from_words, caller);
}

static void step_gives_return_address_and_stack_pointer(void **state)
{
    (void)state;
    struct wndl_cfi_row row = plain_row();
    struct wndl_cfi_regs caller;
    assert_int_equal(step(&row, &caller), WNDL_OK);
    assert_int_equal(caller.regs[16], 0xa1);
    assert_int_equal(caller.regs[7], 0x7010);
    assert_int_equal(caller.regs[3], 0x1030);
    assert_int_equal(caller.valid, 0x1ffff & ~(1u << 5));
}

static void step_applies_every_kind_of_rule(void **state)
{
    (void)state;
    static const uint8_t plus16[] = {0x23, 16};
    struct wndl_cfi_row row = plain_row();
    struct wndl_cfi_regs caller;
    row.regs[0].kind = WNDL_RULE_SAME;
    row.regs[1].kind = WNDL_RULE_UNDEFINED;
    row.regs[2] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = -16};
    row.regs[3] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_VAL_OFFSET, .offset = 24};
    row.regs[4] = (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER, .reg = 8};
    row.regs[6] = (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER, .reg = 5};
    row.regs[8] = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_EXPR, .expr = plus16, .expr_size = 0};
    row.regs[9] = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_VAL_EXPR, .expr = plus16, .expr_size = 2};
    row.regs[10] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = 0x1000};
    assert_int_equal(step(&row, &caller), WNDL_OK);
    assert_int_equal(caller.regs[0], 0x1000);
    assert_int_equal(caller.regs[2], 0xa0);
    assert_int_equal(caller.regs[3], 0x7028);
    assert_int_equal(caller.regs[4], 0x1080);
    assert_int_equal(caller.regs[8], 0xa2);
    assert_int_equal(caller.regs[9], 0x7020);
    /* undefined, from an unknown register, from memory that is not there */
    uint32_t lost = 1u << 1 | 1u << 5 | 1u << 6 | 1u << 10;
    assert_int_equal(caller.valid, 0x1ffff & ~lost);
}

static void step_knows_the_outermost_frame(void **state)
{
    (void)state;
    struct wndl_cfi_row row = plain_row();
    struct wndl_cfi_regs caller;
    row.regs[16].kind = WNDL_RULE_UNDEFINED;
    row.cfa.kind = WNDL_RULE_UNSET;
    assert_int_equal(step(&row, &caller), WNDL_NOT_FOUND);
}

static void step_fails_without_cfa_or_return_address(void **state)
{
    (void)state;
    struct wndl_cfi_regs caller;
    struct wndl_cfi_row row = plain_row();
    row.cfa.kind = WNDL_RULE_UNSET;
    assert_int_equal(step(&row, &caller), WNDL_MALFORMED);
    row = plain_row();
    row.cfa.reg = 5;
    assert_int_equal(step(&row, &caller), WNDL_IO);
    row = plain_row();
    row.regs[16].offset = 0x1000;
    assert_int_equal(step(&row, &caller), WNDL_IO);
    row = plain_row();
    row.regs[16] = (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER, .reg = 5};
    assert_int_equal(step(&row, &caller), WNDL_IO);
}

/* A signal frame: everything, RSP too, comes from memory. */
static void step_takes_the_stack_pointer_from_its_rule(void **state)
{
    (void)state;
    static const uint8_t cfa[] = {0x77, 16, 0x06};
    static const uint8_t rsp[] = {0x77, 16};
    static const uint8_t rip[] = {0x77, 24};
    struct wndl_cfi_row row = {.ra_reg = 16, .signal_frame = true};
    struct wndl_cfi_regs caller;
    row.cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_VAL_EXPR, .expr = cfa, .expr_size = 3};
    row.regs[7] = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_EXPR, .expr = rsp, .expr_size = 2};
    row.regs[16] = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_EXPR, .expr = rip, .expr_size = 2};
    assert_int_equal(step(&row, &caller), WNDL_OK);
    assert_int_equal(caller.regs[7], 0xa2);
    assert_int_equal(caller.regs[16], 0xa3);
}

static void step_of_32_bits_wraps_and_names_esp_4(void **state)
{
    (void)state;
    struct image w = {.base = 4, .size = 8, .data = {0xb0, [4] = 0xb1}};
    struct wndl_cfi_memory from_words = {read_image, &w};
    struct wndl_cfi_row row = {.ra_reg = 8};
    struct wndl_cfi_regs caller;
    struct wndl_cfi_regs callee = registers();
    callee.regs[4] = 0xfffffffc;
    row.cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER, .reg = 4, .offset = 16};
    row.regs[8] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = -4};
    assert_int_equal(
        wndl_cfi_step(&narrow, &row, &callee, &from_words, &caller), WNDL_OK);
    assert_int_equal(caller.regs[4], 12);
    assert_int_equal(caller.regs[8], 0xb1);
    assert_int_equal(caller.regs[7], 0x1070);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_read_in_both_byte_orders),
        cmocka_unit_test(registers_are_read_with_offsets),
        cmocka_unit_test(stack_operations_move_what_they_say),
        cmocka_unit_test(rot_puts_the_top_under_the_next_two),
        cmocka_unit_test(arithmetic_has_the_width_of_an_address),
        cmocka_unit_test(division_traps_nothing),
        cmocka_unit_test(shifts_by_the_width_or_more_leave_sign_or_nothing),
        cmocka_unit_test(comparisons_are_signed),
        cmocka_unit_test(jumps_count_from_after_their_operand),
        cmocka_unit_test(memory_is_read_at_every_size),
        cmocka_unit_test(what_has_no_place_in_cfi_is_unsupported),
        cmocka_unit_test(too_few_values_are_malformed),
        cmocka_unit_test(evaluation_is_bounded),
        cmocka_unit_test(the_initial_value_is_pushed_first),
        cmocka_unit_test(the_plt_expression_sees_the_push),
        cmocka_unit_test(eval_never_reads_beyond_an_expression_cut_short),
        cmocka_unit_test(step_gives_return_address_and_stack_pointer),
        cmocka_unit_test(step_applies_every_kind_of_rule),
        cmocka_unit_test(step_knows_the_outermost_frame),
        cmocka_unit_test(step_fails_without_cfa_or_return_address),
        cmocka_unit_test(step_takes_the_stack_pointer_from_its_rule),
        cmocka_unit_test(step_of_32_bits_wraps_and_names_esp_4),
    };
    return cmocka_run_group_tests_name("cfi_expr", tests, NULL, NULL);
}
