/* SPDX-License-Identifier: MIT */
/*
 * __unwind_info made by hand, with a page of each kind and an encoding of each
 * mode: rules at single addresses, what is lost, and nothing worse from any
 * part of the file.
 */
#include "testlib.h"

#include "base/buf.h"
#include "cfi_import/core/frame_writer.h"
#include "cfi_import/open.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BASE = 0x100000,
    TEXT = 0x200, /* in the file, and from the base on */
    TEXT_SIZE = 0x100,
    INFO = TEXT + TEXT_SIZE,
    INFO_SIZE = 0xa0,
    FRAME = INFO + INFO_SIZE,
    FRAME_SIZE = 0x40,
    SIZE = FRAME + FRAME_SIZE,
};

static void u16(struct wndl_buf *b, unsigned value)
{
    wndl_buf_byte(b, (uint8_t)value);
    wndl_buf_byte(b, (uint8_t)(value >> 8));
}

static void words(struct wndl_buf *b, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wndl_buf_u32le(b, list[i]);
}

static void fill_to(struct wndl_buf *b, size_t offset)
{
    assert_true(b->size <= offset);
    while (b->size < offset)
        wndl_buf_byte(b, 0);
}

static void put_name(struct wndl_buf *b, const char *name)
{
    char text[17] = {0};
    memcpy(text, name, strlen(name));
    wndl_buf_add(b, text, 16);
}

static void put_section(
    struct wndl_buf *b, const char *name, uint32_t at, uint32_t size)
{
    put_name(b, name);
    put_name(b, "__TEXT");
    wndl_buf_u64le(b, BASE + at);
    wndl_buf_u64le(b, size);
    const uint32_t rest[] = {at, 0, 0, 0, at == TEXT ? 0x80000400 : 0, 0, 0, 0};
    words(b, rest, 8);
}

static void put_headers(struct wndl_buf *b)
{
    static const uint32_t head[] = {
        0xfeedfacf, 0x01000007, 3, 2, 1, 72 + 3 * 80, 0, 0};
    static const uint32_t tail[] = {5, 5, 3, 0};
    words(b, head, 8);
    wndl_buf_u32le(b, 0x19);
    wndl_buf_u32le(b, 72 + 3 * 80);
    put_name(b, "__TEXT");
    wndl_buf_u64le(b, BASE);
    wndl_buf_u64le(b, SIZE);
    wndl_buf_u64le(b, 0);
    wndl_buf_u64le(b, SIZE);
    words(b, tail, 4);
    put_section(b, "__text", TEXT, TEXT_SIZE);
    put_section(b, "__unwind_info", INFO, INFO_SIZE);
    put_section(b, "__eh_frame", FRAME, FRAME_SIZE);
}

static void put_code(struct wndl_buf *b)
{
    static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x56, 0x53,
        0x90, 0x5b, 0x41, 0x5e, 0x5d, 0xc3};
    static const uint8_t large[] = {0x53, 0x48, 0x81, 0xec, 0x00, 0x10, 0, 0,
        0x48, 0x81, 0xc4, 0x00, 0x10, 0, 0, 0x5b, 0xc3};
    fill_to(b, TEXT);
    wndl_buf_add(b, framed, sizeof framed);
    fill_to(b, TEXT + 0x40);
    wndl_buf_add(b, large, sizeof large);
}

/*
 * 0x00 a frame with r14 and rbx, by the regular page; 0x20 rbx and 24 bytes,
 * whose code is not its prologue; 0x40 a size in the code; 0x80 of __eh_frame;
 * 0xa0 none; 0xb0 an unknown mode; 0xc0 one that __eh_frame has not.
 */
static void put_info(struct wndl_buf *b)
{
    static const uint32_t head[] = {1, 28, 1, 0, 0, 0x20, 3, /* header */
        0x02040401,                                          /* common */
        TEXT, 0x48, 0, TEXT + 0x40, 0x60, 0, TEXT + 0x100, 0, 0, 0};
    fill_to(b, INFO);
    words(b, head, 18);
    wndl_buf_u32le(b, 2);
    u16(b, 8);
    u16(b, 2);
    const uint32_t regular[] = {TEXT, 0x01020021, TEXT + 0x20, 0x02030400};
    words(b, regular, 4);
    wndl_buf_u32le(b, 3);
    u16(b, 12);
    u16(b, 6);
    u16(b, 36);
    u16(b, 5);
    const uint32_t compressed[] = {
        0x01000000, 0x02000040, 0x03000060, 0x04000070, 0x05000080, 0x000000a0};
    words(b, compressed, 6);
    const uint32_t encodings[] = {
        0x03044400, 0x04000014, 0, 0x0f000000, 0x04000002};
    words(b, encodings, 5);
}

static void put_frame(struct wndl_buf *b)
{
    static const uint8_t cie[] = {0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16,
        0x0c, 7, 8, 0x90, 1, 0, 0};
    fill_to(b, FRAME);
    wndl_buf_add(b, cie, sizeof cie);
    wndl_buf_u32le(b, 0x18);
    wndl_buf_u32le(b, 0x18);
    wndl_buf_u64le(b, BASE + TEXT + 0x80);
    wndl_buf_u64le(b, 0x20);
    static const uint8_t program[] = {0x41, 0x0e, 0x30, 0};
    wndl_buf_add(b, program, sizeof program);
    fill_to(b, SIZE);
}

static struct wndl_bytes make(struct wndl_buf *b)
{
    wndl_buf_init(b, wndl_mem_libc());
    put_headers(b);
    put_code(b);
    put_info(b);
    put_frame(b);
    assert_false(b->failed);
    return (struct wndl_bytes){b->data, b->size};
}

static void write_row(char text[256], const struct wndl_cfi_row *row)
{
    size_t size =
        (size_t)sprintf(text, "%d%+d", row->cfa.reg, (int)row->cfa.offset);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        if (row->regs[i].kind == WNDL_RULE_OFFSET)
            size += (size_t)sprintf(
                text + size, " %u:%d", i, (int)row->regs[i].offset);
}

static void assert_rule(
    const struct wndl_cfi_source *cfi, uint64_t at, const char *expected)
{
    char text[256] = "none";
    struct wndl_fde fde;
    struct wndl_cfi_row row;
    const uint64_t pc = BASE + TEXT + at;
    if (wndl_fde_scan(&cfi->frame, pc, &fde, NULL) == WNDL_OK) {
        assert_int_equal(
            wndl_cfi_row_at(&cfi->frame, &fde, pc, &row, NULL), WNDL_OK);
        write_row(text, &row);
    }
    assert_string_equal(text, expected);
}

static void check_whole(const struct wndl_cfi_source *cfi)
{
    static const struct {
        unsigned at;
        const char *rule;
    } rules[] = {
        {0x00, "7+8 16:-8"},
        {0x01, "7+16 6:-16 16:-8"},
        {0x04, "6+16 6:-16 16:-8"},
        {0x07, "6+16 3:-32 6:-16 14:-24 16:-8"},
        {0x08, "7+32 3:-32 6:-16 14:-24 16:-8"},
        {0x0b, "7+16 6:-16 16:-8"},
        {0x0c, "7+8 16:-8"},
        {0x0d, "6+16 3:-32 6:-16 14:-24 16:-8"},
        {0x20, "7+24 3:-16 16:-8"},
        {0x3f, "7+24 3:-16 16:-8"},
        {0x40, "7+8 16:-8"},
        {0x41, "7+16 3:-16 16:-8"},
        {0x48, "7+4112 3:-16 16:-8"},
        {0x4f, "7+16 3:-16 16:-8"},
        {0x50, "7+8 16:-8"},
        {0x7f, "7+4112 3:-16 16:-8"},
        {0x80, "7+8 16:-8"},
        {0x81, "7+48 16:-8"},
        {0xa0, "none"},
        {0xb0, "none"},
        {0xc0, "none"},
        {0xe0, "7+32 12:-16 16:-8"},
        {0x100, "none"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_rule(cfi, rules[i].at, rules[i].rule);
    assert_string_equal(cfi->name, "__unwind_info");
    assert_int_equal(cfi->unsupported.count, 1);
    assert_int_equal(cfi->damaged.count, 1);
    assert_string_equal(cfi->damaged.first.section, "__unwind_info");
}

static void use_prefix(struct wndl_bytes prefix, void *context)
{
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    const bool whole = prefix.size == *(const size_t *)context;
    if (wndl_object_open(prefix, "a", wndl_mem_libc(), &object, NULL) !=
        WNDL_OK) {
        assert_false(whole);
        return;
    }
    wndl_arena_init(&arena, wndl_mem_libc());
    enum wndl_status status = wndl_cfi_source_open(&cfi, object, &arena, NULL);
    assert_true(status == WNDL_OK || !whole);
    if (whole)
        check_whole(&cfi);
    wndl_arena_free(&arena);
    wndl_object_close(object);
}

static void test_truncated(void **state)
{
    struct wndl_buf b;
    (void)state;
    const struct wndl_bytes file = make(&b);
    size_t whole = file.size;
    use_prefix(file, &whole);
    for_each_truncation(file, use_prefix, &whole);
    wndl_buf_free(&b);
}

/* Nothing behind its page is lost. */
static void test_a_wild_start_loses_its_page_at_most(void **state)
{
    (void)state;
    struct wndl_buf b;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    const struct wndl_bytes file = make(&b);
    b.data[INFO + 0x48 + 8 + 8 + 3] = 0x7f;
    assert_int_equal(
        wndl_object_open(file, "a", wndl_mem_libc(), &object, NULL), WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_cfi_source_open(&cfi, object, &arena, NULL), WNDL_OK);
    assert_rule(&cfi, 0x20, "none");
    assert_rule(&cfi, 0x7f, "7+4112 3:-16 16:-8");
    assert_int_equal(cfi.damaged.count, 3);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    wndl_buf_free(&b);
}

/* Rules that a few bytes say may be long: a program can ask for one of them
 * as often as it has bytes. */
static void test_long_rules_are_bounded(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, ROWS = 64, FIRST = 0x1000 };
    struct wndl_arena arena;
    struct wndl_frame_writer w;
    struct wndl_cfi_section frame;
    uint8_t *expression = calloc(1, LONG);
    assert_non_null(expression);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_frame_writer_init(&w, &arena, 8, 16);
    wndl_frame_writer_bound(&w, 0);
    for (unsigned i = 0; i < 3; i++) {
        const struct wndl_frame_function f = {
            FIRST + i * ROWS, FIRST + (i + 1) * ROWS, i, false};
        assert_true(wndl_frame_writer_begin(&w, &f));
        for (unsigned row = 0; row < (i == 1 ? ROWS : 2); row++) {
            struct wndl_cfi_row r = {.start = f.start + row};
            r.regs[3].kind = row % 2 == 0 ? WNDL_RULE_EXPR : WNDL_RULE_UNSET;
            r.regs[3].expr = expression;
            r.regs[3].expr_size = LONG;
            wndl_frame_writer_row(&w, &r);
        }
        assert_true(w.out.size <= w.limit + LONG + 64);
        assert_int_equal(wndl_frame_writer_end(&w), i != 1);
    }
    assert_int_equal(w.origins.len, 2);
    assert_true(wndl_frame_writer_take(&w, &arena, &frame));
    assert_true(frame.bytes.size < 3 * LONG);
    wndl_arena_free(&arena);
    free(expression);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wild_start_loses_its_page_at_most),
        cmocka_unit_test(test_long_rules_are_bounded),
        cmocka_unit_test(test_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
