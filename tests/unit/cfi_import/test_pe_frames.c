/* SPDX-License-Identifier: MIT */
/*
 * .pdata made by hand, with every unwind code: rules at single addresses, what
 * is lost, and nothing worse from any part of the file.
 */
#include "testlib.h"

#include "base/buf.h"
#include "cfi_import/open.h"

#include <stdio.h>

enum {
    BASE = 0x400000,
    TEXT = 0x1000,
    DATA = 0x2000,
    TEXT_AT = 0x200, /* in the file */
    TEXT_SIZE = 0x200,
    DATA_AT = TEXT_AT + TEXT_SIZE,
    DATA_SIZE = 0x200,
    XDATA = 0xc0, /* in .rdata, behind the list of functions */
    ENTRIES = 15,
    INDIRECT = 10, /* an entry that names the first */
    READ = 10,     /* entries that rules come of */
};

static void u16(struct wndl_buf *b, unsigned value)
{
    wndl_buf_byte(b, (uint8_t)value);
    wndl_buf_byte(b, (uint8_t)(value >> 8));
}

static void zeros(struct wndl_buf *b, size_t count)
{
    while (count-- > 0)
        wndl_buf_byte(b, 0);
}

static void fill_to(struct wndl_buf *b, size_t offset)
{
    assert_true(b->size <= offset);
    zeros(b, offset - b->size);
}

static void put_section(struct wndl_buf *b, const char name[8], bool is_code)
{
    wndl_buf_add(b, name, 8);
    wndl_buf_u32le(b, is_code ? TEXT_SIZE : DATA_SIZE);
    wndl_buf_u32le(b, is_code ? TEXT : DATA);
    wndl_buf_u32le(b, is_code ? TEXT_SIZE : DATA_SIZE);
    wndl_buf_u32le(b, is_code ? TEXT_AT : DATA_AT);
    zeros(b, 12);
    wndl_buf_u32le(b, is_code ? 0x60000020 : 0x40000040);
}

static void put_headers(struct wndl_buf *b)
{
    wndl_buf_add(b, "MZ", 2);
    fill_to(b, 0x3c);
    wndl_buf_u32le(b, 0x40);
    wndl_buf_add(b, "PE\0\0", 4);
    u16(b, 0x8664);
    u16(b, 2);
    zeros(b, 12);
    u16(b, 240);
    u16(b, 2);
    u16(b, 0x20b);
    zeros(b, 22);
    wndl_buf_u32le(b, BASE);
    zeros(b, 4 + 76);
    wndl_buf_u32le(b, 16);
    zeros(b, 3 * 8);
    wndl_buf_u32le(b, DATA);
    wndl_buf_u32le(b, ENTRIES * 12);
    zeros(b, 12 * 8);
    put_section(b, ".text\0\0", true);
    put_section(b, ".rdata\0", false);
    fill_to(b, TEXT_AT);
}

static void put_code(struct wndl_buf *b, size_t offset, const char *code)
{
    fill_to(b, TEXT_AT + offset);
    for (; *code != '\0'; code += *code == ' ' ? 1 : 0) {
        unsigned byte;
        assert_int_equal(sscanf(code, "%2x", &byte), 1);
        wndl_buf_byte(b, (uint8_t)byte);
        code += 2;
    }
}

/* One after the other, with the offset in .rdata where each ends up. */
static const struct {
    unsigned at;
    const char *bytes;
} infos[] = {
    /* push rbp, push rdi, 0x28 bytes */
    {0x00, "01 06 03 00 06 42 02 70 01 50 00 00"},
    /* push rbp, 0x100 bytes, rbp = rsp + 0x80, rbx saved, xmm6 too */
    {0x0c, "01 14 08 85 14 68 02 00 10 34 02 00 0d 03 08 01 20 00 01 50"},
    /* a part of the first function: rsi saved */
    {0x20, "21 04 03 00 04 65 18 00 00 00 00 00"
           " 00 10 00 00 40 10 00 00 c0 20 00 00"},
    /* an interrupt with an error code, and 0x10008 bytes */
    {0x38, "01 07 04 00 07 11 08 00 01 00 00 1a"},
    /* version 2: an epilogue of 2 bytes at the end, one 0x10 before it */
    {0x44, "02 05 04 00 02 16 10 06 05 02 01 30"},
    /* version 3 */
    {0x50, "03 00 00 00"},
    /* a part of itself */
    {0x54, "21 00 00 00 00 11 00 00 10 11 00 00 14 21 00 00"},
    /* an unknown code */
    {0x64, "01 00 01 00 00 0d 00 00"},
    /* a frame pointer without a register */
    {0x6c, "01 00 01 00 00 03 00 00"},
    /* a part of the first function, nothing else saved */
    {0x74, "21 00 00 00 00 10 00 00 40 10 00 00 c0 20 00 00"},
};

static void put_infos(struct wndl_buf *b)
{
    fill_to(b, DATA_AT + XDATA);
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++) {
        assert_int_equal(b->size, DATA_AT + XDATA + infos[i].at);
        put_code(b, b->size - TEXT_AT, infos[i].bytes);
    }
    fill_to(b, DATA_AT + DATA_SIZE);
}

static void put_functions(struct wndl_buf *b)
{
    static const uint32_t list[ENTRIES][3] = {
        {0x1000, 0x1040, 0x00},
        {0x1040, 0x1080, 0x0c},
        {0x1080, 0x10a0, 0x20},
        {0x10a0, 0x10c0, 0x38},
        {0x10c0, 0x1100, 0x44},
        {0x1100, 0x1110, 0x54},
        {0x1110, 0x1120, 0x50},
        {0x1120, 0x1130, 0x64},
        {0x1118, 0x1130, 0x00},
        {0x1130, 0x1140, 0x6c},
        {0x1140, 0x1150, 0}, /* as the first entry */
        {0x1150, 0x1160, 0x74},
        {0x1160, 0x1164, 0x74},
        {0x1164, 0x1170, 0x74},
        {0x1170, 0x1180, 0x74},
    };
    for (size_t i = 0; i < ENTRIES; i++) {
        wndl_buf_u32le(b, list[i][0]);
        wndl_buf_u32le(b, list[i][1]);
        wndl_buf_u32le(b, i == INDIRECT ? DATA + 1 : DATA + XDATA + list[i][2]);
    }
}

static struct wndl_bytes make(struct wndl_buf *b)
{
    wndl_buf_init(b, wndl_mem_libc());
    put_headers(b);
    put_code(b, 0x30, "48 83 c4 28 5f 5d c3 90");
    /* pops in the middle of the function, but nothing behind them */
    put_code(b, 0x50, "5d 90 5d c3");
    put_code(b, 0x70, "48 8d a5 80 00 00 00 5d e9 83 00 00 00");
    put_code(b, 0xf0, "5b c3");
    put_code(b, 0xfe, "5b c3");
    /* epilogues that end, or whose pops begin, in another part */
    put_code(b, 0x15b, "48 83 c4 28 5f 5d c3 90");
    put_code(b, 0x16c, "48 83 c4 28 5f 5d c3 90");
    fill_to(b, DATA_AT);
    put_functions(b);
    put_infos(b);
    assert_false(b->failed);
    return (struct wndl_bytes){b->data, b->size};
}

/* "7+8 3:-16 16:-8": the CFA, and registers with where they are saved. */
static void write_row(char text[256], const struct wndl_cfi_row *row)
{
    size_t size =
        (size_t)sprintf(text, "%d%+d", row->cfa.reg, (int)row->cfa.offset);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        if (row->regs[i].kind == WNDL_RULE_OFFSET)
            size += (size_t)sprintf(
                text + size, " %u:%d", i, (int)row->regs[i].offset);
    if (row->signal_frame)
        sprintf(text + size, " signal");
}

static void assert_rule(
    const struct wndl_cfi_source *cfi, uint64_t rva, const char *expected)
{
    char text[256] = "none";
    struct wndl_fde fde;
    struct wndl_cfi_row row;
    if (wndl_fde_scan(&cfi->frame, BASE + rva, &fde, NULL) == WNDL_OK) {
        assert_int_equal(
            wndl_cfi_row_at(&cfi->frame, &fde, BASE + rva, &row, NULL),
            WNDL_OK);
        write_row(text, &row);
    }
    assert_string_equal(text, expected);
}

static void check_whole(const struct wndl_cfi_source *cfi)
{
    static const struct {
        unsigned rva;
        const char *rule;
    } rules[] = {
        {0x1000, "7+8 16:-8"},
        {0x1001, "7+16 6:-16 16:-8"},
        {0x1002, "7+24 5:-24 6:-16 16:-8"},
        {0x1006, "7+64 5:-24 6:-16 16:-8"},
        {0x1033, "7+64 5:-24 6:-16 16:-8"},
        {0x1034, "7+24 5:-24 6:-16 16:-8"},
        {0x1035, "7+16 6:-16 16:-8"},
        {0x1036, "7+8 16:-8"},
        {0x1037, "7+64 5:-24 6:-16 16:-8"},
        {0x1047, "7+16 6:-16 16:-8"},
        {0x1048, "7+272 6:-16 16:-8"},
        {0x104d, "6+144 6:-16 16:-8"},
        {0x1050, "6+144 3:-256 6:-16 16:-8"},
        {0x1054, "6+144 3:-256 6:-16 16:-8"},
        {0x1077, "7+16 6:-16 16:-8"},
        {0x1078, "7+8 16:-8"},
        {0x107d, "6+144 3:-256 6:-16 16:-8"},
        {0x1080, "7+64 5:-24 6:-16 16:-8"},
        {0x1084, "7+64 4:-40 5:-24 6:-16 16:-8"},
        {0x10a0, "7+48 7:-16 16:-40 signal"},
        {0x10a7, "7+65592 7:-16 16:-40 signal"},
        {0x10c5, "7+24 3:-16 16:-8"},
        {0x10ef, "7+24 3:-16 16:-8"},
        {0x10f0, "7+16 3:-16 16:-8"},
        {0x10f1, "7+8 16:-8"},
        {0x10f2, "7+24 3:-16 16:-8"},
        {0x10ff, "7+8 16:-8"},
        {0x1100, "none"},
        {0x1110, "none"},
        {0x1120, "none"},
        {0x1130, "none"},
        {0x1146, "7+64 5:-24 6:-16 16:-8"},
        {0x115b, "7+64 5:-24 6:-16 16:-8"},
        {0x115f, "7+24 5:-24 6:-16 16:-8"},
        {0x1160, "7+16 6:-16 16:-8"},
        {0x1161, "7+8 16:-8"},
        {0x1162, "7+64 5:-24 6:-16 16:-8"},
        {0x116c, "7+64 5:-24 6:-16 16:-8"},
        {0x1170, "7+24 5:-24 6:-16 16:-8"},
        {0x1171, "7+16 6:-16 16:-8"},
        {0x1172, "7+8 16:-8"},
        {0x1173, "7+64 5:-24 6:-16 16:-8"},
        {0x1180, "none"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_rule(cfi, rules[i].rva, rules[i].rule);
    assert_int_equal(cfi->unsupported.count, 2);
    assert_int_equal(cfi->damaged.count, 3);
    assert_int_equal(cfi->unsupported.first.offset, 6 * 12);
    assert_string_equal(cfi->unsupported.first.section, ".pdata");
    assert_int_equal(cfi->damaged.first.offset, 5 * 12);
    assert_int_equal(cfi->damaged.first.status, WNDL_LIMIT);
}

/* Records are whole, in order, and known by where they are from. */
static size_t count_records(const struct wndl_cfi_source *cfi)
{
    size_t count = 0;
    uint64_t next, last = 0;
    for (uint64_t at = 0; at < cfi->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        struct wndl_cfi_row row;
        enum wndl_status status =
            wndl_fde_parse(&cfi->frame, at, &fde, &next, NULL);
        if (status == WNDL_NOT_FOUND)
            continue;
        assert_int_equal(status, WNDL_OK);
        const uint64_t origin = wndl_cfi_source_origin(cfi, at);
        assert_true(count++ == 0 ? origin == 0 : origin > last);
        last = origin;
        assert_int_equal(
            wndl_cfi_row_at(&cfi->frame, &fde, fde.end - 1, &row, NULL),
            WNDL_OK);
    }
    return count;
}

static void use_prefix(struct wndl_bytes prefix, void *context)
{
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    const size_t whole = *(const size_t *)context;
    if (wndl_object_open(prefix, "a.exe", wndl_mem_libc(), &object, NULL) !=
        WNDL_OK)
        return;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_cfi_source_open(&cfi, object, &arena, NULL), WNDL_OK);
    const size_t count = count_records(&cfi);
    assert_true(prefix.size == whole || count <= READ);
    if (prefix.size == whole) {
        assert_int_equal(count, READ);
        check_whole(&cfi);
    } else if (prefix.size < DATA_AT + ENTRIES * 12) {
        assert_true(cfi.damaged.count > 0);
    }
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

static void test_a_wild_end_loses_one_function(void **state)
{
    (void)state;
    struct wndl_buf b;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    const struct wndl_bytes file = make(&b);
    b.data[DATA_AT + 7] = 0x7f;
    assert_int_equal(
        wndl_object_open(file, "a", wndl_mem_libc(), &object, NULL), WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_cfi_source_open(&cfi, object, &arena, NULL), WNDL_OK);
    assert_int_equal(cfi.damaged.first.offset, 0);
    assert_int_equal(cfi.damaged.count, 4);
    assert_int_equal(cfi.origins.len, READ - 1);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    wndl_buf_free(&b);
}

/* Thousands of functions that are all parts of the same chain of 32 infos,
 * each as long as can be. */
static struct wndl_bytes make_chained(struct wndl_buf *b, uint32_t functions)
{
    enum { CHAIN = 32, SLOTS = 254, INFO = 4 + 2 * SLOTS + 12, HEAD = 0x200 };
    const uint32_t list = functions * 12, size = list + CHAIN * INFO;
    wndl_buf_init(b, wndl_mem_libc());
    put_headers(b);
    b->data[0x46] = 1;             /* one section, */
    b->size = 0x40 + 4 + 20 + 240; /* which has the list and the infos */
    b->data[b->size - 12 * 8 - 4] = (uint8_t)list;
    b->data[b->size - 12 * 8 - 3] = (uint8_t)(list >> 8);
    wndl_buf_add(b, ".rdata\0", 8);
    const uint32_t section[] = {size, DATA, size, HEAD, 0, 0, 0, 0x40000040};
    for (size_t i = 0; i < 8; i++)
        wndl_buf_u32le(b, section[i]);
    fill_to(b, HEAD);
    for (uint32_t i = 0; i < functions; i++) {
        wndl_buf_u32le(b, TEXT + i);
        wndl_buf_u32le(b, TEXT + i + 1);
        wndl_buf_u32le(b, DATA + list);
    }
    for (uint32_t i = 1; i <= CHAIN; i++) {
        const bool is_last = i == CHAIN;
        wndl_buf_u32le(b, (is_last ? 0x01 : 0x21) | SLOTS << 16);
        for (unsigned k = 0; k < SLOTS; k++)
            u16(b, 0x0200); /* 8 bytes, at offset 0 */
        zeros(b, 8);
        wndl_buf_u32le(b, is_last ? 0 : DATA + list + i * INFO);
    }
    return (struct wndl_bytes){b->data, b->size};
}

static void test_shared_chains_are_bounded(void **state)
{
    (void)state;
    struct wndl_buf b;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    enum { FUNCTIONS = 3000 };
    const struct wndl_bytes file = make_chained(&b, FUNCTIONS);
    assert_int_equal(
        wndl_object_open(file, "a", wndl_mem_libc(), &object, NULL), WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_cfi_source_open(&cfi, object, &arena, NULL), WNDL_OK);
    assert_int_equal(cfi.damaged.first.status, WNDL_LIMIT);
    assert_true(cfi.damaged.count > 100);
    assert_int_equal(cfi.damaged.count + cfi.origins.len, (size_t)FUNCTIONS);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    wndl_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wild_end_loses_one_function),
        cmocka_unit_test(test_shared_chains_are_bounded),
        cmocka_unit_test(test_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
