/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "unwind/arm/exidx.h"
#include "unwind/arm/rows.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- instructions */

/* Instructions as an inline entry or a table has them, in words. */
struct text {
    uint8_t words[16];
    struct wndl_exidx_code code;
};

static struct wndl_exidx_code code_of(
    struct text *t, const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        t->words[(i & ~3u) | (3 - (i & 3))] = bytes[i];
    return (struct wndl_exidx_code){t->words, 0, count, false};
}

struct op_case {
    uint8_t bytes[6];
    uint8_t count;
    struct wndl_exidx_op op;
};

/* Each row of the specification's table 10.3, at its ends. */
static void every_instruction_is_read_as_specified(void **state)
{
    (void)state;
    static const struct op_case cases[] = {
        {{0x00}, 1, {WNDL_EXIDX_MOVE, 0, 0, 4}},
        {{0x3f}, 1, {WNDL_EXIDX_MOVE, 0, 0, 0x100}},
        {{0x40}, 1, {WNDL_EXIDX_MOVE, 0, 0, -4}},
        {{0x7f}, 1, {WNDL_EXIDX_MOVE, 0, 0, -0x100}},
        {{0x80, 0x00}, 2, {WNDL_EXIDX_REFUSE, 0, 0, 0}},
        {{0x80, 0x01}, 2, {WNDL_EXIDX_POP, 0, 1 << 4, 0}},
        {{0x8f, 0xff}, 2, {WNDL_EXIDX_POP, 0, 0xfff0, 0}},
        {{0x84, 0x80}, 2, {WNDL_EXIDX_POP, 0, 1 << 14 | 1 << 11, 0}},
        {{0x97}, 1, {WNDL_EXIDX_SET, 7, 0, 0}},
        {{0x9b}, 1, {WNDL_EXIDX_SET, 11, 0, 0}},
        {{0xa0}, 1, {WNDL_EXIDX_POP, 0, 1 << 4, 0}},
        {{0xa7}, 1, {WNDL_EXIDX_POP, 0, 0xff0, 0}},
        {{0xa8}, 1, {WNDL_EXIDX_POP, 0, 1 << 14 | 1 << 4, 0}},
        {{0xaf}, 1, {WNDL_EXIDX_POP, 0, 1 << 14 | 0xff0, 0}},
        {{0xb0}, 1, {WNDL_EXIDX_FINISH, 0, 0, 0}},
        {{0xb1, 0x01}, 2, {WNDL_EXIDX_POP, 0, 1, 0}},
        {{0xb1, 0x0f}, 2, {WNDL_EXIDX_POP, 0, 0xf, 0}},
        {{0xb2, 0x00}, 2, {WNDL_EXIDX_MOVE, 0, 0, 0x204}},
        {{0xb2, 0x87, 0x26}, 3, {WNDL_EXIDX_MOVE, 0, 0, 20000}},
        {{0xb3, 0x83}, 2, {WNDL_EXIDX_SKIP, 0, 0, 36}},
        {{0xb4}, 1, {WNDL_EXIDX_SKIP, 0, 0, 4}},
        {{0xb5}, 1, {WNDL_EXIDX_NOTHING, 0, 0, 0}},
        {{0xb8}, 1, {WNDL_EXIDX_SKIP, 0, 0, 12}},
        {{0xbf}, 1, {WNDL_EXIDX_SKIP, 0, 0, 68}},
        {{0xc0}, 1, {WNDL_EXIDX_SKIP, 0, 0, 8}},
        {{0xc5}, 1, {WNDL_EXIDX_SKIP, 0, 0, 48}},
        {{0xc6, 0x02}, 2, {WNDL_EXIDX_SKIP, 0, 0, 24}},
        {{0xc7, 0x05}, 2, {WNDL_EXIDX_SKIP, 0, 0, 8}},
        {{0xc8, 0x01}, 2, {WNDL_EXIDX_SKIP, 0, 0, 16}},
        {{0xc9, 0x84}, 2, {WNDL_EXIDX_SKIP, 0, 0, 40}},
        {{0xd0}, 1, {WNDL_EXIDX_SKIP, 0, 0, 8}},
        {{0xd7}, 1, {WNDL_EXIDX_SKIP, 0, 0, 64}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t;
        struct wndl_exidx_op op;
        struct wndl_exidx_code code =
            code_of(&t, cases[i].bytes, cases[i].count);
        assert_int_equal(wndl_exidx_next(&code, &op), WNDL_OK);
        assert_int_equal(op.kind, cases[i].op.kind);
        assert_int_equal(op.reg, cases[i].op.reg);
        assert_int_equal(op.mask, cases[i].op.mask);
        assert_int_equal(op.amount, cases[i].op.amount);
        assert_int_equal(code.next, code.end);
        /* Behind the last one there is a finish. */
        assert_int_equal(wndl_exidx_next(&code, &op), WNDL_OK);
        assert_int_equal(op.kind, WNDL_EXIDX_FINISH);
        /* Without its last byte it is not there, or is another one. */
        code = code_of(&t, cases[i].bytes, cases[i].count - 1u);
        assert_int_equal(wndl_exidx_next(&code, &op),
            cases[i].count == 1 ? WNDL_OK : WNDL_TRUNCATED);
    }
}

static void reserved_instructions_are_refused(void **state)
{
    (void)state;
    static const uint8_t cases[][6] = {{0x9d}, {0x9f}, {0xb1, 0x00},
        {0xb1, 0x10}, {0xb6}, {0xb7}, {0xc7, 0x00}, {0xc7, 0x10}, {0xca},
        {0xcf}, {0xd8}, {0xff}, {0xb2, 0xff, 0xff, 0xff, 0xff, 0x7f},
        {0xb2, 0x80, 0x80, 0x80, 0x80, 0x80}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t;
        struct wndl_exidx_op op;
        struct wndl_exidx_code code = code_of(&t, cases[i], 6);
        assert_int_equal(wndl_exidx_next(&code, &op), WNDL_MALFORMED);
    }
}

/* ---- entries */

enum { INDEX = 0x20000, TABLE = 0x30000, CODE = 0x10000 };

static void put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

static uint32_t prel31(uint32_t to, uint32_t place)
{
    return (to - place) & 0x7fffffff;
}

enum { ENTRIES = 6 };

/* CANTUNWIND, inline, models 1 and 2, generic, and one beyond the table. */
struct sections {
    uint8_t index[ENTRIES * 8];
    uint8_t table[32];
    struct wndl_exidx exidx;
};

static void make_sections(struct sections *s)
{
    static const uint32_t at[] = {TABLE, TABLE + 8, TABLE + 20, TABLE + 32};
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < ENTRIES; i++)
        put32(s->index + 8 * i, prel31(CODE + 0x10 * i, INDEX + 8 * i));
    put32(s->index + 4, 1);
    put32(s->index + 12, 0x809742ac); /* vsp = r7; -12; pop {r4-r8, lr} */
    for (uint32_t i = 2; i < ENTRIES; i++)
        put32(s->index + 8 * i + 4, prel31(at[i - 2], INDEX + 8 * i + 4));
    put32(s->table, 0x8101c984); /* model 1, a word more: pop {d8-d12} */
    put32(s->table + 4, 0x8408b0b0);
    put32(s->table + 8, 0x8202b1f0); /* model 2: b1 f0 is reserved */
    put32(s->table + 20, prel31(CODE, TABLE + 20));
    s->exidx = (struct wndl_exidx){{s->index, sizeof s->index},
        {s->table, sizeof s->table}, INDEX, TABLE, false};
}

static void entries_are_of_each_kind(void **state)
{
    (void)state;
    struct sections s;
    struct wndl_exidx_entry e;
    struct wndl_cfi_row row;
    struct wndl_error err = {0};
    size_t i;
    make_sections(&s);
    assert_int_equal(wndl_exidx_count(&s.exidx), ENTRIES);
    assert_int_equal(wndl_exidx_start(&s.exidx, 1), CODE + 0x10);

    assert_int_equal(wndl_exidx_read(&s.exidx, 0, &e, &err), WNDL_OK);
    assert_int_equal(e.kind, WNDL_EXIDX_CANTUNWIND);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_NOT_FOUND);

    assert_int_equal(wndl_exidx_read(&s.exidx, 1, &e, &err), WNDL_OK);
    assert_int_equal(e.kind, WNDL_EXIDX_INLINE);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_OK);
    assert_int_equal(row.cfa.reg, 7);
    assert_int_equal(row.cfa.offset, 12);
    assert_int_equal(row.regs[WNDL_ARM_LR].offset, -4);
    assert_int_equal(row.regs[4].offset, -24);
    assert_int_equal(row.regs[9].kind, WNDL_RULE_UNSET);

    assert_int_equal(wndl_exidx_read(&s.exidx, 2, &e, &err), WNDL_OK);
    assert_int_equal(e.kind, WNDL_EXIDX_COMPACT);
    assert_int_equal(e.model, 1);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_OK);
    assert_int_equal(row.cfa.reg, WNDL_ARM_SP);
    assert_int_equal(row.cfa.offset, 48);
    assert_int_equal(row.regs[7].offset, -8);

    assert_int_equal(wndl_exidx_read(&s.exidx, 3, &e, &err), WNDL_OK);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_MALFORMED);
    assert_string_equal(err.section, ".ARM.exidx");
    assert_int_equal(err.offset, 24);

    assert_int_equal(wndl_exidx_read(&s.exidx, 4, &e, &err), WNDL_OK);
    assert_int_equal(e.kind, WNDL_EXIDX_GENERIC);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_UNSUPPORTED);
    assert_non_null(strstr(err.what, "personality"));

    /* A byte for how many words follow, and instructions: GNU's form. */
    put32(s.table + 24, 0x0102a8b0); /* vsp + 12; pop {r4, lr} */
    put32(s.table + 28, 0xb0b0b0b0);
    assert_int_equal(wndl_exidx_read(&s.exidx, 4, &e, &err), WNDL_OK);
    assert_int_equal(e.kind, WNDL_EXIDX_GENERIC);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_OK);
    assert_int_equal(row.cfa.offset, 20);
    assert_int_equal(row.regs[WNDL_ARM_LR].offset, -4);
    put32(s.table + 28, 0xb0b0b001); /* something behind the end */
    assert_int_equal(wndl_exidx_read(&s.exidx, 4, &e, &err), WNDL_OK);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_UNSUPPORTED);
    put32(s.table + 24, 0x0202a8b0); /* goes beyond the table */
    assert_int_equal(wndl_exidx_read(&s.exidx, 4, &e, &err), WNDL_OK);
    assert_int_equal(wndl_exidx_row(&e, &row, &err), WNDL_UNSUPPORTED);

    assert_int_equal(wndl_exidx_read(&s.exidx, 5, &e, &err), WNDL_MALFORMED);
    assert_int_equal(wndl_exidx_find(&s.exidx, CODE - 1, &i), WNDL_NOT_FOUND);
    assert_int_equal(wndl_exidx_find(&s.exidx, CODE + 0x1f, &i), WNDL_OK);
    assert_int_equal(i, 1);
}

static void read_all(struct wndl_bytes bytes, void *context)
{
    struct sections *s = context;
    struct wndl_exidx x = s->exidx;
    const size_t index =
        bytes.size < sizeof s->index ? bytes.size : sizeof s->index;
    x.index = wndl_bytes_slice(bytes, 0, index);
    x.table = wndl_bytes_slice(bytes, index, bytes.size - index);
    for (size_t i = 0; i < wndl_exidx_count(&x); i++) {
        struct wndl_exidx_entry e;
        struct wndl_cfi_row row;
        if (wndl_exidx_read(&x, i, &e, NULL) == WNDL_OK &&
            wndl_exidx_row(&e, &row, NULL) == WNDL_OK)
            assert_int_not_equal(row.cfa.kind, WNDL_RULE_UNSET);
    }
}

static void sections_may_end_anywhere(void **state)
{
    (void)state;
    struct sections s;
    make_sections(&s);
    for_each_truncation(
        (struct wndl_bytes){s.index, sizeof s.index + sizeof s.table}, read_all,
        &s);
}

/* ---- rows of functions */

struct expected_row {
    uint32_t start;
    uint8_t base;
    int16_t cfa;
    int16_t lr; /* slot from the CFA, 0: in its register */
};

struct seen {
    struct wndl_cfi_row rows[16];
    size_t count;
};

static bool see(void *context, const struct wndl_cfi_row *row)
{
    struct seen *seen = context;
    assert_in_range(seen->count, 0, 15);
    seen->rows[seen->count++] = *row;
    return true;
}

static enum wndl_arm_prologue rows_of(
    struct seen *seen, const void *code, uint32_t size, uint32_t unwinding)
{
    uint8_t words[4];
    struct wndl_cfi_row body;
    const struct wndl_exidx_entry entry = {
        .kind = WNDL_EXIDX_INLINE, .code = {words, 1, 4, false}};
    put32(words, unwinding);
    assert_int_equal(wndl_exidx_row(&entry, &body, NULL), WNDL_OK);
    const struct wndl_arm_function f = {
        {code, size}, CODE, CODE, CODE + size, &body};
    seen->count = 0;
    return wndl_arm_rows(&f, see, seen);
}

static void expect(const struct seen *seen, const struct expected_row *rows,
    size_t count, uint32_t size)
{
    assert_int_equal(seen->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct wndl_cfi_row *r = &seen->rows[i];
        const bool last = i + 1 == count;
        assert_int_equal(r->start, CODE + rows[i].start);
        assert_int_equal(r->end, CODE + (last ? size : rows[i + 1].start));
        assert_int_equal(r->cfa.reg, rows[i].base);
        assert_int_equal(r->cfa.offset, rows[i].cfa);
        assert_int_equal(r->regs[WNDL_ARM_LR].kind,
            rows[i].lr == 0 ? WNDL_RULE_UNSET : WNDL_RULE_OFFSET);
        assert_int_equal(r->regs[WNDL_ARM_LR].offset, rows[i].lr);
    }
}

static void thumb_prologue_and_epilogue_are_followed(void **state)
{
    (void)state;
    static const uint16_t code[] = {
        0xb5b0,         /* 0 push {r4, r5, r7, lr} */
        0xb08a,         /* 2 sub sp, #40 */
        0x4604,         /* 4 mov r4, r0 */
        0xb10c,         /* 6 cbz r4, 12 */
        0xb00a,         /* 8 add sp, #40 */
        0xbdb0,         /* 10 pop {r4, r5, r7, pc} */
        0x4628,         /* 12 mov r0, r5 */
        0xb00a,         /* 14 add sp, #40 */
        0xe8bd, 0x40b0, /* 16 pop.w {r4, r5, r7, lr} */
        0xf7ff, 0xbff4, /* 20 b.w */
    };
    static const struct expected_row rows[] = {{0, 13, 0, 0}, {2, 13, 16, -4},
        {4, 13, 56, -4}, {10, 13, 16, -4}, {12, 13, 56, -4}, {16, 13, 16, -4},
        {20, 13, 0, 0}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x8009840b), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof code);
}

/* A frame of variable size: by r7, and back by what r7 leads to. */
/* As of functions with a stack protector: what is behind the pop is where the
 * condition did not hold. */
static void epilogues_under_a_condition_are_followed(void **state)
{
    (void)state;
    uint16_t thumb[] = {
        0xb5b0,         /* 0 push {r4, r5, r7, lr} */
        0xb08a,         /* 2 sub sp, #40 */
        0x4291,         /* 4 cmp r1, r2 */
        0xbf04,         /* 6 itt eq */
        0xb00a,         /* 8 addeq sp, #40 */
        0xbdb0,         /* 10 popeq {r4, r5, r7, pc} */
        0xf7ff, 0xfffe, /* 12 bl */
    };
    static const struct expected_row rows[] = {{0, 13, 0, 0}, {2, 13, 16, -4},
        {4, 13, 56, -4}, {10, 13, 16, -4}, {12, 13, 56, -4}};
    static const uint32_t arm[] = {
        0xe92d4010, /* 0 push {r4, lr} */
        0xe24dd008, /* 4 sub sp, sp, #8 */
        0xe1500001, /* 8 cmp r0, r1 */
        0x028dd008, /* 12 addeq sp, sp, #8 */
        0x08bd8010, /* 16 popeq {r4, pc} */
        0xebfffffe, /* 20 bl */
    };
    static const struct expected_row arm_rows[] = {{0, 13, 0, 0},
        {4, 13, 8, -4}, {8, 13, 16, -4}, {16, 13, 8, -4}, {20, 13, 16, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, thumb, sizeof thumb, 0x8009840b), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof thumb);
    assert_int_equal(
        rows_of(&seen, arm, sizeof arm, 0x8001a8b0), WNDL_ARM_FOLLOWED);
    expect(&seen, arm_rows, sizeof arm_rows / sizeof *arm_rows, sizeof arm);
    /* Not all of the frame: it is no epilogue. */
    thumb[4] = 0xb008; /* addeq sp, #32 */
    assert_int_equal(
        rows_of(&seen, thumb, sizeof thumb, 0x8009840b), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, 3, sizeof thumb);
}

static void frames_by_a_register_are_followed(void **state)
{
    (void)state;
    static const uint16_t code[] = {
        0xe92d, 0x41f0, /* 0 push.w {r4-r8, lr} */
        0xaf03,         /* 4 add r7, sp, #12 */
        0xebad, 0x0400, /* 6 sub.w r4, sp, r0 */
        0x46a5,         /* 10 mov sp, r4 */
        0xf1a7, 0x040c, /* 12 sub.w r4, r7, #12 */
        0x4428,         /* 16 add r0, r5 */
        0x46a5,         /* 18 mov sp, r4 */
        0xe8bd, 0x81f0, /* 20 pop.w {r4-r8, pc} */
    };
    static const struct expected_row rows[] = {
        {0, 13, 0, 0}, {4, 13, 24, -4}, {6, 7, 12, -4}, {20, 13, 24, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x809742ac), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof code);
}

static void arm_code_is_known_by_what_fits(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xe3500000, /* 0 cmp r0, #0 */
        0x012fff1e, /* 4 bxeq lr */
        0xe52de004, /* 8 str lr, [sp, #-4]! */
        0xed2d8b02, /* 12 vpush {d8} */
        0xe24dd014, /* 16 sub sp, sp, #20 */
        0xe28dd014, /* 20 add sp, sp, #20 */
        0xecbd8b02, /* 24 vpop {d8} */
        0xe49df004, /* 28 ldr pc, [sp], #4 */
    };
    static const struct expected_row rows[] = {{0, 13, 0, 0}, {12, 13, 4, -4},
        {16, 13, 12, -4}, {20, 13, 32, -4}, {24, 13, 12, -4}, {28, 13, 4, -4}};
    struct seen seen;
    /* vsp += 20 and 8; pop {lr} */
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x80068400), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof code);
}

/* As Thumb code these would be: and r0, r2; push.w {r4, pc}. */
static void a_stored_pc_is_no_return_address(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xe92d4010, /* 0 push {r4, lr} */
        0xe8bd8010, /* 4 pop {r4, pc} */
    };
    static const struct expected_row rows[] = {{0, 13, 0, 0}, {4, 13, 8, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x80a8b0b0), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof code);
}

static void what_does_not_fit_has_the_bodys_rule(void **state)
{
    (void)state;
    static const uint16_t other[] = {0x4770, 0xbf00, 0xbdb0};
    static const uint16_t partly[] = {0xb5b0, 0xf000, 0xf800, 0xb08a};
    static const struct expected_row none[] = {{0, 13, 56, -4}};
    static const struct expected_row some[] = {
        {0, 13, 0, 0}, {2, 13, 16, -4}, {6, 13, 56, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, other, sizeof other, 0x8009840b), WNDL_ARM_NOT_FOLLOWED);
    expect(&seen, none, 1, sizeof other);
    assert_int_equal(
        rows_of(&seen, partly, sizeof partly, 0x8009840b), WNDL_ARM_PARTLY);
    expect(&seen, some, 3, sizeof partly);
}

/* The entry is the first one's, and says the same of the second. */
static void functions_with_one_entry_are_told_apart(void **state)
{
    (void)state;
    static const uint16_t code[] = {
        0xb510, /* 0 push {r4, lr} */
        0x4604, /* 2 mov r4, r0 */
        0xbd10, /* 4 pop {r4, pc} */
        0xb510, /* 6 push {r4, lr} */
        0x4604, /* 8 mov r4, r0 */
        0xbd10, /* 10 pop {r4, pc} */
    };
    static const struct expected_row rows[] = {
        {0, 13, 0, 0}, {2, 13, 8, -4}, {6, 13, 0, 0}, {8, 13, 8, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x80a8b0b0), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof code);
}

/* Nothing makes a rule that holds already: it is gone on behind the push. */
static void pushes_where_nothing_is_to_be_popped_are_passed(void **state)
{
    (void)state;
    static const uint16_t code[] = {0x4604, 0xb510, 0x4604, 0xb500, 0xbd10};
    static const struct expected_row rows[] = {{0, 13, 0, 0}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x80b0b0b0), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, 1, sizeof code);
}

/* The same with frames, Thumb and ARM. */
static void larger_functions_with_one_entry_are_told_apart(void **state)
{
    (void)state;
    static const uint16_t thumb[] = {
        0xb5b0,         /* 0 push {r4, r5, r7, lr} */
        0xb08a,         /* 2 sub sp, #40 */
        0xb00a,         /* 4 add sp, #40 */
        0xbdb0,         /* 6 pop {r4, r5, r7, pc} */
        0xb5b0,         /* 8 push {r4, r5, r7, lr} */
        0x4604,         /* 10 mov r4, r0 */
        0xb08a,         /* 12 sub sp, #40 */
        0xf000, 0xf800, /* 14 bl */
        0xb00a,         /* 18 add sp, #40 */
        0xbdb0,         /* 20 pop {r4, r5, r7, pc} */
    };
    static const struct expected_row thumb_rows[] = {{0, 13, 0, 0},
        {2, 13, 16, -4}, {4, 13, 56, -4}, {6, 13, 16, -4}, {8, 13, 0, 0},
        {10, 13, 16, -4}, {14, 13, 56, -4}, {20, 13, 16, -4}};
    static const uint32_t arm[] = {
        0xe92d4010, /* 0 push {r4, lr} */
        0xe24dd008, /* 4 sub sp, sp, #8 */
        0xeafffffe, /* 8 b . */
        0xe92d4010, /* 12 push {r4, lr} */
        0xe24dd008, /* 16 sub sp, sp, #8 */
        0xebfffffe, /* 20 bl */
    };
    static const struct expected_row arm_rows[] = {{0, 13, 0, 0},
        {4, 13, 8, -4}, {8, 13, 16, -4}, {12, 13, 0, 0}, {16, 13, 8, -4},
        {20, 13, 16, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, thumb, sizeof thumb, 0x8009840b), WNDL_ARM_FOLLOWED);
    expect(&seen, thumb_rows, sizeof thumb_rows / sizeof *thumb_rows,
        sizeof thumb);
    assert_int_equal(
        rows_of(&seen, arm, sizeof arm, 0x8001a8b0), WNDL_ARM_FOLLOWED);
    expect(&seen, arm_rows, sizeof arm_rows / sizeof *arm_rows, sizeof arm);
}

/* A push that makes another frame than the entry says begins no function. */
static void other_pushes_begin_no_function(void **state)
{
    (void)state;
    static const uint16_t code[] = {
        0xb5b0, /* 0 push {r4, r5, r7, lr} */
        0xb08a, /* 2 sub sp, #40 */
        0xbf00, /* 4 nop */
        0xb510, /* 6 push {r4, lr} */
        0xb08a, /* 8 sub sp, #40 */
        0x4770, /* 10 bx lr */
    };
    static const struct expected_row rows[] = {
        {0, 13, 0, 0}, {2, 13, 16, -4}, {4, 13, 56, -4}};
    struct seen seen;
    assert_int_equal(
        rows_of(&seen, code, sizeof code, 0x8009840b), WNDL_ARM_FOLLOWED);
    expect(&seen, rows, sizeof rows / sizeof *rows, sizeof code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_is_read_as_specified),
        cmocka_unit_test(reserved_instructions_are_refused),
        cmocka_unit_test(entries_are_of_each_kind),
        cmocka_unit_test(sections_may_end_anywhere),
        cmocka_unit_test(thumb_prologue_and_epilogue_are_followed),
        cmocka_unit_test(epilogues_under_a_condition_are_followed),
        cmocka_unit_test(frames_by_a_register_are_followed),
        cmocka_unit_test(arm_code_is_known_by_what_fits),
        cmocka_unit_test(a_stored_pc_is_no_return_address),
        cmocka_unit_test(what_does_not_fit_has_the_bodys_rule),
        cmocka_unit_test(functions_with_one_entry_are_told_apart),
        cmocka_unit_test(pushes_where_nothing_is_to_be_popped_are_passed),
        cmocka_unit_test(larger_functions_with_one_entry_are_told_apart),
        cmocka_unit_test(other_pushes_begin_no_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
