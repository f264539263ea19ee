/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include <stdlib.h>
#include <ucontext.h>

#include "cfi/cfi.h"
#include "cfibuild.h"

static const struct cfi_shape usual = {8, false, false, false, 1};

/* The function of all tests, and the initial rules of the usual CIE. */
enum { START = 0x5000, SIZE = 0x1000 };
#define INITIAL CFI_BYTES(0x0c, 7, 8, 0x90, 1)

/* A section of one CIE and one FDE with the programs given. */
struct subject {
    struct cfi_build b;
    struct wndl_fde fde;
};

static void make(struct subject *s, const struct cfi_shape *shape,
    struct wndl_bytes initial, struct wndl_bytes program)
{
    cfi_build_init(&s->b, shape, 0x1000);
    size_t cie = cfi_put_cie(&s->b, initial);
    size_t at = cfi_put_fde(&s->b, cie, START, SIZE, program);
    assert_int_equal(
        wndl_fde_parse(&s->b.section, at, &s->fde, NULL, NULL), WNDL_OK);
}

static enum wndl_status row_at(
    const struct subject *s, uint64_t pc, struct wndl_cfi_row *row)
{
    return wndl_cfi_row_at(&s->b.section, &s->fde, pc, row, NULL);
}

static enum wndl_status first_row(
    struct wndl_bytes program, struct wndl_cfi_row *row)
{
    static struct subject s;
    make(&s, &usual, INITIAL, program);
    return row_at(&s, START, row);
}

static void assert_cfa(
    const struct wndl_cfi_row *row, unsigned reg, int64_t offset)
{
    assert_int_equal(row->cfa.kind, WNDL_RULE_REGISTER);
    assert_int_equal(row->cfa.reg, reg);
    assert_int_equal(row->cfa.offset, offset);
}

static void assert_saved(
    const struct wndl_cfi_row *row, unsigned reg, int64_t offset)
{
    assert_int_equal(row->regs[reg].kind, WNDL_RULE_OFFSET);
    assert_int_equal(row->regs[reg].offset, offset);
}

static void row_at_follows_a_function_with_a_frame_pointer(void **state)
{
    (void)state;
    static struct subject s;
    struct wndl_cfi_row row;
    /* push rbp; mov rbp, rsp; push rbx; ... pop; leave; ret; cold part */
    make(&s, &usual, INITIAL,
        CFI_BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x44, 0x83, 3, 0x02,
            0x80, 0x0a, 0x0c, 7, 8, 0xc3, 0xc6, 0x41, 0x0b, 0, 0));
    assert_int_equal(row_at(&s, START, &row), WNDL_OK);
    assert_int_equal(row.start, START);
    assert_int_equal(row.end, START + 1);
    assert_int_equal(row.ra_reg, 16);
    assert_false(row.signal_frame);
    assert_cfa(&row, 7, 8);
    assert_saved(&row, 16, -8);
    assert_int_equal(row.regs[6].kind, WNDL_RULE_UNSET);

    assert_int_equal(row_at(&s, START + 1, &row), WNDL_OK);
    assert_int_equal(row.start, START + 1);
    assert_int_equal(row.end, START + 4);
    assert_cfa(&row, 7, 16);
    assert_saved(&row, 6, -16);

    assert_int_equal(row_at(&s, START + 7, &row), WNDL_OK);
    assert_cfa(&row, 6, 16);
    assert_int_equal(row.regs[3].kind, WNDL_RULE_UNSET);

    assert_int_equal(row_at(&s, START + 8 + 0x7f, &row), WNDL_OK);
    assert_int_equal(row.start, START + 8);
    assert_int_equal(row.end, START + 8 + 0x80);
    assert_saved(&row, 3, -24);

    assert_int_equal(row_at(&s, START + 8 + 0x80, &row), WNDL_OK);
    assert_cfa(&row, 7, 8);
    assert_int_equal(row.regs[3].kind, WNDL_RULE_UNSET);
    assert_int_equal(row.regs[6].kind, WNDL_RULE_UNSET);
    assert_saved(&row, 16, -8);

    assert_int_equal(row_at(&s, START + SIZE - 1, &row), WNDL_OK);
    assert_int_equal(row.start, START + 9 + 0x80);
    assert_int_equal(row.end, START + SIZE);
    assert_cfa(&row, 6, 16);
    assert_saved(&row, 3, -24);
}

static void row_at_answers_only_for_the_fde(void **state)
{
    (void)state;
    static struct subject s;
    struct wndl_cfi_row row;
    make(&s, &usual, INITIAL, CFI_BYTES(0));
    assert_int_equal(row_at(&s, START - 1, &row), WNDL_NOT_FOUND);
    assert_int_equal(row_at(&s, START + SIZE, &row), WNDL_NOT_FOUND);
    assert_int_equal(row_at(&s, START + SIZE - 1, &row), WNDL_OK);
}

struct seen {
    unsigned count, stop_after;
    uint64_t ends[8];
};

static bool see(void *context, const struct wndl_cfi_row *row)
{
    struct seen *seen = context;
    assert_true(row->start < row->end);
    assert_int_equal(
        row->start, seen->count == 0 ? START : seen->ends[seen->count - 1]);
    seen->ends[seen->count++] = row->end;
    return seen->count != seen->stop_after;
}

static void rows_visits_each_row_once_up_to_the_end(void **state)
{
    (void)state;
    static struct subject s;
    struct seen seen = {0};
    /* an advance by nothing makes no row, one to beyond the end is cut */
    make(&s, &usual, INITIAL,
        CFI_BYTES(0x40, 0x44, 0x0e, 16, 0x40, 0x0e, 24, 0x48, 0x0e, 32, 0x03,
            0xff, 0xff, 0x0e, 40, 0x41));
    assert_int_equal(
        wndl_cfi_rows(&s.b.section, &s.fde, see, &seen, NULL), WNDL_OK);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.ends[0], START + 4);
    assert_int_equal(seen.ends[1], START + 12);
    assert_int_equal(seen.ends[2], START + SIZE);
    struct wndl_cfi_row row;
    assert_int_equal(row_at(&s, START + 4, &row), WNDL_OK);
    assert_cfa(&row, 7, 24);
}

static void rows_stops_when_the_visitor_says_so(void **state)
{
    (void)state;
    static struct subject s;
    struct seen seen = {.stop_after = 2};
    make(&s, &usual, INITIAL, CFI_BYTES(0x41, 0x41, 0x41, 0x1f));
    assert_int_equal(
        wndl_cfi_rows(&s.b.section, &s.fde, see, &seen, NULL), WNDL_OK);
    assert_int_equal(seen.count, 2);
}

static void rows_makes_none_for_an_empty_function(void **state)
{
    (void)state;
    static struct subject s;
    struct seen seen = {0};
    make(&s, &usual, INITIAL, CFI_BYTES(0x41));
    s.fde.end = s.fde.start;
    assert_int_equal(
        wndl_cfi_rows(&s.b.section, &s.fde, see, &seen, NULL), WNDL_OK);
    assert_int_equal(seen.count, 0);
}

static void advances_of_every_size_are_scaled(void **state)
{
    (void)state;
    static const struct {
        uint8_t op, size;
        uint64_t delta;
    } forms[] = {
        {0x02, 1, 0x90},
        {0x03, 2, 0x390},
        {0x04, 4, 0x390},
        {0x1d, 8, 0x390},
    };
    for (unsigned i = 0; i < 8; i++) {
        static struct subject s;
        struct wndl_cfi_row row;
        struct cfi_shape shape = usual;
        shape.big_endian = i >= 4;
        cfi_build_init(&s.b, &shape, 0x1000);
        size_t cie = cfi_put_cie(&s.b, INITIAL);
        size_t at = cfi_begin_fde(&s.b, cie);
        cfi_put(&s.b, START, 8);
        cfi_put(&s.b, SIZE, 8);
        cfi_put(&s.b, forms[i % 4].op, 1);
        cfi_put(&s.b, forms[i % 4].delta, forms[i % 4].size);
        cfi_end_record(&s.b);
        assert_int_equal(
            wndl_fde_parse(&s.b.section, at, &s.fde, NULL, NULL), WNDL_OK);
        s.fde.cie.code_align = 4;
        assert_int_equal(row_at(&s, START, &row), WNDL_OK);
        assert_int_equal(row.end, START + 4 * forms[i % 4].delta);
    }
}

static void advances_beyond_the_address_space_are_malformed(void **state)
{
    (void)state;
    static const struct cfi_shape narrow = {4, false, false, false, 1};
    static struct subject s;
    struct wndl_cfi_row row;
    make(&s, &narrow, INITIAL, CFI_BYTES(0x04, 0xff, 0xff, 0xff, 0xff));
    assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
    make(&s, &usual, INITIAL, CFI_BYTES(0x04, 0xff, 0xff, 0xff, 0xff));
    assert_int_equal(row_at(&s, START, &row), WNDL_OK);
    s.fde.cie.code_align = UINT64_MAX;
    assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
    s.fde.cie.code_align = (UINT64_C(1) << 32) + 1; /* START is too much */
    assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
}

static void set_loc_moves_forward_only(void **state)
{
    (void)state;
    static struct subject s;
    struct wndl_cfi_row row;
    make(&s, &usual, INITIAL, CFI_BYTES(0x01, 0x30, 0x50, 0, 0, 0, 0, 0, 0));
    assert_int_equal(row_at(&s, START, &row), WNDL_OK);
    assert_int_equal(row.end, 0x5030);
    make(&s, &usual, INITIAL,
        CFI_BYTES(0x48, 0x01, 0x07, 0x50, 0, 0, 0, 0, 0, 0));
    assert_int_equal(row_at(&s, START, &row), WNDL_OK);
    assert_int_equal(row_at(&s, START + 8, &row), WNDL_MALFORMED);
}

static void set_loc_is_encoded_as_the_fde_is(void **state)
{
    (void)state;
    static struct subject s;
    struct wndl_cfi_row row;
    make(&s, &usual, INITIAL, CFI_BYTES(0x01, 0, 0, 0, 0));
    uint64_t place = s.b.section.addr + s.b.section.bytes.size - 4;
    cfi_patch(&s.b, s.b.section.bytes.size - 4, START + 0x20 - place, 4);
    s.fde.cie.fde_encoding = 0x1b; /* pcrel sdata4 */
    assert_int_equal(row_at(&s, START, &row), WNDL_OK);
    assert_int_equal(row.end, START + 0x20);
    s.fde.cie.fde_encoding = 0x9b; /* indirect */
    assert_int_equal(row_at(&s, START, &row), WNDL_UNSUPPORTED);
}

static void cfa_instructions_give_their_rules(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    assert_int_equal(first_row(CFI_BYTES(0x0c, 6, 0x90, 1), &row), WNDL_OK);
    assert_cfa(&row, 6, 0x90);
    assert_int_equal(first_row(CFI_BYTES(0x12, 6, 0x7e), &row), WNDL_OK);
    assert_cfa(&row, 6, 16);
    assert_int_equal(first_row(CFI_BYTES(0x0d, 6), &row), WNDL_OK);
    assert_cfa(&row, 6, 8);
    assert_int_equal(first_row(CFI_BYTES(0x0e, 0x20), &row), WNDL_OK);
    assert_cfa(&row, 7, 0x20);
    assert_int_equal(first_row(CFI_BYTES(0x13, 0x7c), &row), WNDL_OK);
    assert_cfa(&row, 7, 32);
    assert_int_equal(
        first_row(CFI_BYTES(0x0f, 3, 0x77, 8, 0x06), &row), WNDL_OK);
    assert_int_equal(row.cfa.kind, WNDL_RULE_VAL_EXPR);
    assert_int_equal(row.cfa.expr_size, 3);
    assert_memory_equal(row.cfa.expr, "\x77\x08\x06", 3);
}

static void half_a_cfa_needs_one_to_change(void **state)
{
    (void)state;
    static const uint8_t halves[] = {0x0d, 0x0e, 0x13};
    for (unsigned i = 0; i < 3; i++) {
        struct wndl_cfi_row row;
        static struct subject s;
        uint8_t op = halves[i];
        assert_int_equal(
            first_row(CFI_BYTES(0x0f, 1, 0x50, op, 6), &row), WNDL_MALFORMED);
        make(&s, &usual, CFI_BYTES(0x90, 1), CFI_BYTES(op, 6));
        assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
    }
    struct wndl_cfi_row row;
    static struct subject s;
    make(&s, &usual, CFI_BYTES(0x90, 1), CFI_BYTES(0));
    assert_int_equal(row_at(&s, START, &row), WNDL_OK);
    assert_int_equal(row.cfa.kind, WNDL_RULE_UNSET);
}

static void register_instructions_give_their_rules(void **state)
{
    (void)state;
    static const struct {
        uint8_t program[6];
        uint8_t size, reg, kind;
        int64_t offset;
    } cases[] = {
        {{0x83, 3}, 2, 3, WNDL_RULE_OFFSET, -24},
        {{0x05, 12, 0x80, 1}, 4, 12, WNDL_RULE_OFFSET, -1024},
        {{0x11, 12, 0x7e}, 3, 12, WNDL_RULE_OFFSET, 16},
        {{0x2f, 12, 2}, 3, 12, WNDL_RULE_OFFSET, 16},
        {{0x14, 12, 2}, 3, 12, WNDL_RULE_VAL_OFFSET, -16},
        {{0x15, 12, 0x7e}, 3, 12, WNDL_RULE_VAL_OFFSET, 16},
        {{0x07, 12}, 2, 12, WNDL_RULE_UNDEFINED, 0},
        {{0x08, 12}, 2, 12, WNDL_RULE_SAME, 0},
        {{0x07, 16, 0xd0}, 3, 16, WNDL_RULE_OFFSET, -8},
        {{0x07, 16, 0x06, 16}, 4, 16, WNDL_RULE_OFFSET, -8},
        {{0x83, 3, 0xc3}, 3, 3, WNDL_RULE_UNSET, 0},
        {{0x2e, 0x90, 1, 0x83, 3}, 5, 3, WNDL_RULE_OFFSET, -24},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wndl_cfi_row row;
        struct wndl_bytes program = {cases[i].program, cases[i].size};
        assert_int_equal(first_row(program, &row), WNDL_OK);
        assert_int_equal(row.regs[cases[i].reg].kind, cases[i].kind);
        assert_int_equal(row.regs[cases[i].reg].offset, cases[i].offset);
    }
}

static void register_and_expression_rules_keep_their_operand(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    assert_int_equal(first_row(CFI_BYTES(0x09, 16, 2), &row), WNDL_OK);
    assert_int_equal(row.regs[16].kind, WNDL_RULE_REGISTER);
    assert_int_equal(row.regs[16].reg, 2);
    assert_int_equal(
        first_row(CFI_BYTES(0x10, 5, 2, 0x76, 0x70, 0x16, 6, 0), &row),
        WNDL_OK);
    assert_int_equal(row.regs[5].kind, WNDL_RULE_EXPR);
    assert_int_equal(row.regs[5].expr_size, 2);
    assert_memory_equal(row.regs[5].expr, "\x76\x70", 2);
    assert_int_equal(row.regs[6].kind, WNDL_RULE_VAL_EXPR);
    assert_int_equal(row.regs[6].expr_size, 0);
}

static void rules_of_untracked_registers_are_passed_over(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    assert_int_equal(
        first_row(CFI_BYTES(0x91, 4, 0xd1, 0x05, 0x80, 1, 3, 0x07, 17, 0x08,
                      0xff, 0x7f, 0x10, 17, 1, 0x50, 0x0e, 32),
            &row),
        WNDL_OK);
    assert_cfa(&row, 7, 32);
    for (unsigned reg = 0; reg < 16; reg++)
        assert_int_equal(row.regs[reg].kind, WNDL_RULE_UNSET);
}

static void rules_from_untracked_registers_are_unsupported(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    static struct subject s;
    assert_int_equal(first_row(CFI_BYTES(0x0c, 17, 8), &row), WNDL_UNSUPPORTED);
    assert_int_equal(
        first_row(CFI_BYTES(0x0d, 0x87, 2), &row), WNDL_UNSUPPORTED);
    assert_int_equal(
        first_row(CFI_BYTES(0x09, 16, 17), &row), WNDL_UNSUPPORTED);
    make(&s, &usual, INITIAL, CFI_BYTES(0));
    s.fde.cie.ra_reg = 30;
    assert_int_equal(row_at(&s, START, &row), WNDL_UNSUPPORTED);
}

static void remembered_states_nest_and_hold_the_cfa_too(void **state)
{
    (void)state;
    static struct subject s;
    struct wndl_cfi_row row;
    uint8_t program[64];
    size_t size = 0;
    for (uint8_t i = 1; i <= 8; i++) {
        program[size++] = 0x0a;
        program[size++] = 0x0e;
        program[size++] = i * 8 + 8;
        program[size++] = 0x83;
        program[size++] = i + 1;
    }
    for (uint8_t i = 0; i < 8; i++) {
        program[size++] = 0x41;
        program[size++] = 0x0b;
    }
    make(&s, &usual, INITIAL, (struct wndl_bytes){program, size});
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(row_at(&s, START + i, &row), WNDL_OK);
        assert_cfa(&row, 7, 72 - 8 * i);
        assert_saved(&row, 3, -8 * (9 - (int)i));
    }
    assert_int_equal(row_at(&s, START + 8, &row), WNDL_OK);
    assert_cfa(&row, 7, 8);
    assert_int_equal(row.regs[3].kind, WNDL_RULE_UNSET);
}

static void states_too_deep_or_too_few_are_refused(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    assert_int_equal(
        first_row(CFI_BYTES(10, 10, 10, 10, 10, 10, 10, 10), &row), WNDL_OK);
    assert_int_equal(
        first_row(CFI_BYTES(10, 10, 10, 10, 10, 10, 10, 10, 10), &row),
        WNDL_LIMIT);
    assert_int_equal(first_row(CFI_BYTES(11), &row), WNDL_MALFORMED);
    assert_int_equal(first_row(CFI_BYTES(10, 11, 11), &row), WNDL_MALFORMED);
}

static void initial_instructions_only_set_rules(void **state)
{
    (void)state;
    static struct subject s;
    struct wndl_cfi_row row;
    make(&s, &usual, CFI_BYTES(0x0c, 7, 8, 0x41), CFI_BYTES(0));
    assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
    make(&s, &usual, CFI_BYTES(0x0c, 7, 8, 0xc3), CFI_BYTES(0));
    assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
    make(&s, &usual, CFI_BYTES(0x0c, 7), CFI_BYTES(0));
    assert_int_equal(row_at(&s, START, &row), WNDL_MALFORMED);
}

static void offsets_that_overflow_are_malformed(void **state)
{
    (void)state;
    struct wndl_cfi_row row;
    /* 2^63, and 2^62 times -8 */
    assert_int_equal(first_row(CFI_BYTES(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x80, 1),
                         &row),
        WNDL_MALFORMED);
    assert_int_equal(first_row(CFI_BYTES(0x83, 0x80, 0x80, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x40),
                         &row),
        WNDL_MALFORMED);
    assert_int_equal(first_row(CFI_BYTES(0x2f, 3, 0x80, 0x80, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x10),
                         &row),
        WNDL_MALFORMED);
}

static void instructions_of_no_meaning_here_are_named(void **state)
{
    (void)state;
    static struct subject s;
    static const uint8_t unknown[] = {0x17, 0x1c, 0x2c, 0x2d, 0x3f};
    for (unsigned i = 0; i < sizeof unknown; i++) {
        struct wndl_cfi_row row;
        struct wndl_error err = {0};
        make(&s, &usual, INITIAL, CFI_BYTES(0x41, 0, unknown[i]));
        assert_int_equal(row_at(&s, START, &row), WNDL_OK);
        assert_int_equal(
            wndl_cfi_row_at(&s.b.section, &s.fde, START + 1, &row, &err),
            WNDL_UNSUPPORTED);
        assert_int_equal(err.status, WNDL_UNSUPPORTED);
        assert_int_equal(err.offset, s.b.section.bytes.size - 1);
        assert_string_equal(err.section, ".eh_frame");
        assert_string_equal(err.what, "an instruction that is not known");
    }
}

/*
 * At the top of the address space every advance is checked for overflow, and
 * no instruction takes its short way: the rows must be the same.
 */
static void rows_are_the_same_at_the_top_of_the_address_space(void **state)
{
    (void)state;
    static struct subject low;
    static struct subject high;
    struct wndl_bytes program = CFI_BYTES(0x0e, 16, 0x41, 0x86, 2, 0x0e, 0xa8,
        0x81, 0, 0, 0x02, 0x90, 0x83, 0x80, 2, 0x0e, 0x80, 0x81, 0x82, 1, 0x42,
        0x91, 4, 0xd1, 0x85, 0x80, 0x80, 1, 0x4f, 0x0a, 0x0c, 7, 8, 0x43, 0x0b,
        0x0f, 1, 0x57, 0x41, 0x0c, 6, 16, 0x0e, 0xff, 0x7f, 0x7f);
    make(&low, &usual, INITIAL, program);
    make(&high, &usual, INITIAL, program);
    high.fde.start = UINT64_MAX - SIZE;
    high.fde.end = UINT64_MAX;
    for (uint64_t at = 0; at < 0x140; at++) {
        struct wndl_cfi_row a;
        struct wndl_cfi_row b;
        assert_int_equal(row_at(&low, START + at, &a), WNDL_OK);
        assert_int_equal(row_at(&high, high.fde.start + at, &b), WNDL_OK);
        assert_int_equal(a.start - START, b.start - high.fde.start);
        assert_int_equal(a.end - START, b.end - high.fde.start);
        if (a.cfa.kind == WNDL_RULE_REGISTER)
            assert_memory_equal(&a.cfa, &b.cfa, sizeof a.cfa);
        assert_int_equal(a.cfa.kind, b.cfa.kind);
        assert_memory_equal(a.regs, b.regs, sizeof a.regs);
    }
}

/* One of each instruction that has an operand. */
static const uint8_t every_instruction[] = {0x0c, 7, 16, 0x0d, 6, 0x0e, 24,
    0x12, 7, 0x7e, 0x13, 0x7d, 0x83, 3, 0x05, 12, 4, 0x11, 13, 0x7b, 0x14, 14,
    6, 0x15, 15, 0x79, 0x07, 2, 0x08, 4, 0x09, 5, 1, 0x10, 8, 2, 0x76, 0x70,
    0x16, 9, 2, 0x76, 0x70, 0x2e, 8, 0x2f, 10, 2, 0x0a, 0x41, 0x0b, 0xc3, 0x06,
    12, 0x02, 4, 0x03, 4, 0, 0x04, 4, 0, 0, 0, 0x01, 0x80, 0x50, 0, 0, 0, 0, 0,
    0, 0x0f, 3, 0x77, 8, 0x06};

static bool count_row(void *context, const struct wndl_cfi_row *row)
{
    (void)row;
    ++*(unsigned *)context;
    return true;
}

/* The program alone is cut: its block has no byte more. */
static void run_prefix(struct wndl_bytes prefix, void *context)
{
    struct subject *s = context;
    struct wndl_fde fde = s->fde;
    struct wndl_cfi_section section = s->b.section;
    unsigned rows = 0;
    section.bytes = prefix;
    fde.program = prefix;
    enum wndl_status status =
        wndl_cfi_rows(&section, &fde, count_row, &rows, NULL);
    if (status != WNDL_OK)
        assert_int_equal(status, WNDL_MALFORMED);
    else
        assert_in_range(rows, 1, 6);
}

static void rows_never_reads_beyond_a_program_cut_short(void **state)
{
    (void)state;
    static struct subject s;
    unsigned rows = 0;
    struct wndl_bytes program = {every_instruction, sizeof every_instruction};
    make(&s, &usual, INITIAL, program);
    assert_int_equal(
        wndl_cfi_rows(&s.b.section, &s.fde, count_row, &rows, NULL), WNDL_OK);
    assert_int_equal(rows, 6);
    for_each_truncation(program, run_prefix, &s);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define MEASURE_STACK 1
#endif
#endif

#ifdef MEASURE_STACK
static struct subject deep;
static ucontext_t caller;
static ucontext_t callee;
static enum wndl_status deep_status;

static void run_deep(void)
{
    struct wndl_cfi_row row;
    deep_status = row_at(&deep, START + SIZE - 1, &row);
}

static void row_at_fits_a_small_signal_stack(void **state)
{
    (void)state;
    enum { STACK = 64 * 1024, PAINT = 0xa5, MOST = 4096 };
    uint8_t *stack = malloc(STACK);
    assert_non_null(stack);
    memset(stack, PAINT, STACK);
    make(&deep, &usual, INITIAL,
        (struct wndl_bytes){every_instruction, sizeof every_instruction});
    assert_int_equal(getcontext(&callee), 0);
    callee.uc_stack.ss_sp = stack;
    callee.uc_stack.ss_size = STACK;
    callee.uc_link = &caller;
    makecontext(&callee, run_deep, 0);
    assert_int_equal(swapcontext(&caller, &callee), 0);
    assert_int_equal(deep_status, WNDL_OK);
    size_t unused = 0;
    while (unused < STACK && stack[unused] == PAINT)
        unused++;
    assert_in_range(STACK - unused, 1, MOST);
    free(stack);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_at_follows_a_function_with_a_frame_pointer),
        cmocka_unit_test(row_at_answers_only_for_the_fde),
        cmocka_unit_test(rows_visits_each_row_once_up_to_the_end),
        cmocka_unit_test(rows_stops_when_the_visitor_says_so),
        cmocka_unit_test(rows_makes_none_for_an_empty_function),
        cmocka_unit_test(advances_of_every_size_are_scaled),
        cmocka_unit_test(advances_beyond_the_address_space_are_malformed),
        cmocka_unit_test(set_loc_moves_forward_only),
        cmocka_unit_test(set_loc_is_encoded_as_the_fde_is),
        cmocka_unit_test(cfa_instructions_give_their_rules),
        cmocka_unit_test(half_a_cfa_needs_one_to_change),
        cmocka_unit_test(register_instructions_give_their_rules),
        cmocka_unit_test(register_and_expression_rules_keep_their_operand),
        cmocka_unit_test(rules_of_untracked_registers_are_passed_over),
        cmocka_unit_test(rules_from_untracked_registers_are_unsupported),
        cmocka_unit_test(remembered_states_nest_and_hold_the_cfa_too),
        cmocka_unit_test(states_too_deep_or_too_few_are_refused),
        cmocka_unit_test(initial_instructions_only_set_rules),
        cmocka_unit_test(offsets_that_overflow_are_malformed),
        cmocka_unit_test(instructions_of_no_meaning_here_are_named),
        cmocka_unit_test(rows_are_the_same_at_the_top_of_the_address_space),
        cmocka_unit_test(rows_never_reads_beyond_a_program_cut_short),
#ifdef MEASURE_STACK
        cmocka_unit_test(row_at_fits_a_small_signal_stack),
#endif
    };
    return cmocka_run_group_tests_name("cfi_run", tests, NULL, NULL);
}
