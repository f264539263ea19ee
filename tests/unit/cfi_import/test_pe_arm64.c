/* SPDX-License-Identifier: MIT */
/*
 * ARM64's .pdata and .xdata made by hand: rules of every unwind code, of packed
 * entries, what is lost, and nothing worse from any part of a file.
 */
#include "testlib.h"

#include "base/buf.h"
#include "cfi_import/open.h"
#include "cfi_import/pe/arm64.h"

#include <stdio.h>
#include <string.h>

enum {
    BASE = 0x400000,
    TEXT = 0x1000,
    DATA = 0x2000,
    DATA_AT = 0x200, /* in the file */
    DATA_SIZE = 0x200,
    XDATA = 0x80, /* in .rdata, behind the list of functions */
    ENTRIES = 12,
};

/* ---- codes */

/* "sp+16 x19:-16 lr:-8 signed": the CFA, and where registers are saved. */
static void write_row(char text[512], const struct wndl_cfi_row *row)
{
    size_t size = (size_t)sprintf(
        text, "%s%+d", row->cfa.reg == 29 ? "fp" : "sp", (int)row->cfa.offset);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        if (row->regs[i].kind == WNDL_RULE_OFFSET)
            size += (size_t)sprintf(
                text + size, " x%u:%d", i, (int)row->regs[i].offset);
    if (row->ra_signed)
        sprintf(text + size, " signed");
}

static void write_steps(char *text, const struct wndl_arm64_steps *steps)
{
    struct wndl_arm64_state state = wndl_arm64_state_at_entry();
    *text = '\0';
    for (uint32_t i = 0; i < steps->count; i++) {
        wndl_arm64_state_step(&state, &steps->list[i]);
        if (i == steps->own && i != 0)
            strcat(text, "| ");
        write_row(text + strlen(text), &state.row);
        strcat(text, i + 1 < steps->count ? "; " : "");
    }
}

static struct wndl_arm64_steps prologue, epilogue;

static void assert_codes(const char *codes, size_t size, const char *expected)
{
    char text[4096] = "";
    const char *why = "";
    if (wndl_arm64_steps_read(&prologue,
            (struct wndl_bytes){(const uint8_t *)codes, size}, 0,
            &why) == WNDL_OK)
        write_steps(text, &prologue);
    else
        strcpy(text, why);
    assert_string_equal(text, expected);
}

#define CODES(bytes) bytes, sizeof bytes - 1

static void test_each_code(void **state)
{
    (void)state;
    assert_codes(CODES("\xe4"), "");
    assert_codes(CODES("\x02\xe4"), "sp+32");
    assert_codes(CODES("\x24\xe4"), "sp+32 x19:-32 x20:-24");
    assert_codes(CODES("\x42\x03\xe4"), "sp+48; sp+48 x29:-32 x30:-24");
    assert_codes(CODES("\x81\xe4"), "sp+16 x29:-16 x30:-8");
    assert_codes(CODES("\xc1\x02\xe4"), "sp+4128");
    assert_codes(CODES("\xc8\x82\x04\xe4"), "sp+64; sp+64 x21:-48 x22:-40");
    assert_codes(CODES("\xcc\x45\xe4"), "sp+48 x20:-48 x21:-40");
    assert_codes(CODES("\xd2\xc1\x04\xe4"), "sp+64; sp+64 x30:-56");
    assert_codes(CODES("\xd4\x43\xe4"), "sp+32 x21:-32");
    assert_codes(CODES("\xd6\x42\x04\xe4"), "sp+64; sp+64 x21:-48 x30:-40");
    assert_codes(CODES("\xd8\x02\x04\xe4"), "sp+64; sp+64");
    assert_codes(CODES("\xda\x03\xe4"), "sp+32");
    assert_codes(CODES("\xdc\x02\x04\xe4"), "sp+64; sp+64");
    assert_codes(CODES("\xde\x05\xe4"), "sp+48");
    assert_codes(CODES("\xe0\x01\x00\x02\xe4"), "sp+1048608");
    assert_codes(
        CODES("\xe1\x81\xe4"), "sp+16 x29:-16 x30:-8; fp+16 x29:-16 x30:-8");
    assert_codes(CODES("\x02\xe2\x01\x81\xe4"),
        "sp+16 x29:-16 x30:-8; fp+8 x29:-16 x30:-8; fp+8 x29:-16 x30:-8");
    assert_codes(CODES("\xe3\x01\xe4"), "sp+16; sp+16");
    assert_codes(
        CODES("\x81\xfc\xe4"), "sp+0 signed; sp+16 x29:-16 x30:-8 signed");
    assert_codes(CODES("\xe7\x14\x03\x04\xe4"), "sp+64; sp+64 x20:-40");
    assert_codes(CODES("\xe7\x74\x02\xe4"), "sp+48 x20:-48 x21:-40");
    assert_codes(CODES("\xe7\x34\x02\xe4"), "sp+48 x20:-48");
    assert_codes(CODES("\xe7\x54\x02\x04\xe4"), "sp+64; sp+64 x20:-32 x21:-24");
    assert_codes(CODES("\xe7\x68\x81\xe4"), "sp+32");
    assert_codes(CODES("\xe6\xe6\x26\xe4"),
        "sp+48 x19:-48 x20:-40; sp+48 x19:-48 x20:-40 x21:-32 x22:-24; "
        "sp+48 x19:-48 x20:-40 x21:-32 x22:-24 x23:-16 x24:-8");
    assert_codes(CODES("\xe6\xd8\x02\x04\xe4"), "sp+64; sp+64; sp+64");
    assert_codes(CODES("\x01\xe5\x81\xe4"),
        "sp+16 x29:-16 x30:-8; | sp+32 x29:-16 x30:-8");
}

static void test_refused_codes(void **state)
{
    (void)state;
    const char *const no_end = "unwind codes without an end";
    const char *const unknown = "an unwind code that is not known";
    const char *const no_register = "a register that does not exist";
    assert_codes(CODES("\x02"), no_end);
    assert_codes(CODES("\xc1"), no_end);
    assert_codes(CODES("\xe0\x01"), no_end);
    assert_codes(CODES("\xd6\xc2\xe4"), "sp+0 x25:16 x30:24");
    assert_codes(CODES("\xd7\x82\xe4"), no_register);
    assert_codes(CODES("\xd3\xc2\xe4"), no_register);
    assert_codes(CODES("\xe7\x1f\x02\xe4"), no_register);
    assert_codes(CODES("\xcf\xc2\xe4"), no_register);
    assert_codes(CODES("\xe7\x94\x03\xe4"), unknown);
    assert_codes(CODES("\xe7\x14\xc3\xe4"), unknown);
    assert_codes(CODES("\xf0\xe4"), unknown);
    assert_codes(CODES("\xdf\x01\xe4"), "a frame of scalable vectors");
    assert_codes(CODES("\xe9\xe4"), "a frame of the system's own");
    assert_codes(CODES("\xe6\x02\xe4"),
        "a next pair of registers without a pair before it");
    assert_codes(
        CODES("\xe6\xe4"), "a next pair of registers without a pair before it");
    assert_codes(CODES("\xe6\x81\xe4"),
        "a next pair of registers without a pair before it");
}

/* ---- packed */

static uint32_t packed(unsigned chain, unsigned ints, unsigned floats,
    unsigned homes, unsigned frame)
{
    return 1 | 0x10 << 2 | floats << 13 | ints << 16 | homes << 20 |
           chain << 21 | frame / 16 << 23;
}

static void assert_packed(
    uint32_t word, const char *at_start, const char *at_end)
{
    char text[4096] = "";
    const char *why = "";
    if (wndl_arm64_steps_unpack(&prologue, &epilogue, word, &why) != WNDL_OK) {
        assert_string_equal(why, at_start);
        return;
    }
    write_steps(text, &prologue);
    assert_string_equal(text, at_start);
    write_steps(text, &epilogue);
    assert_string_equal(text, at_end == NULL ? at_start : at_end);
}

static void test_packed(void **state)
{
    (void)state;
    assert_packed(packed(0, 0, 0, 0, 48), "sp+48", NULL);
    assert_packed(packed(0, 0, 0, 0, 4096), "sp+4080; sp+4096", NULL);
    assert_packed(packed(0, 1, 0, 0, 16), "sp+16 x19:-16", NULL);
    assert_packed(packed(1, 0, 0, 0, 32), "sp+16 x30:-16; sp+32 x30:-16", NULL);
    assert_packed(packed(1, 2, 0, 0, 32),
        "sp+32 x19:-32 x20:-24; sp+32 x19:-32 x20:-24 x30:-16", NULL);
    assert_packed(packed(1, 3, 1, 0, 48),
        "sp+48 x19:-48 x20:-40; "
        "sp+48 x19:-48 x20:-40 x21:-32 x30:-24; "
        "sp+48 x19:-48 x20:-40 x21:-32 x30:-24",
        NULL);
    /* d8 to d10 are saved by two instructions, the first of which allocates */
    assert_packed(packed(0, 0, 2, 0, 48), "sp+32; sp+32; sp+48", NULL);
    assert_packed(packed(3, 0, 0, 0, 32),
        "sp+32 x29:-32 x30:-24; fp+32 x29:-32 x30:-24",
        "sp+32 x29:-32 x30:-24");
    assert_packed(packed(3, 0, 0, 0, 528),
        "sp+528; sp+528 x29:-528 x30:-520; fp+528 x29:-528 x30:-520",
        "sp+528; sp+528 x29:-528 x30:-520");
    assert_packed(packed(2, 1, 0, 0, 32),
        "sp+0 signed; sp+16 x19:-16 signed; "
        "sp+32 x19:-16 x29:-32 x30:-24 signed; "
        "fp+32 x19:-16 x29:-32 x30:-24 signed",
        "sp+0 signed; sp+16 x19:-16 signed; "
        "sp+32 x19:-16 x29:-32 x30:-24 signed");
    /* x0 to x7 are put into the caller's frame, and left there */
    assert_packed(packed(1, 0, 0, 1, 80),
        "sp+80 x30:-80; sp+80 x30:-80; sp+80 x30:-80; sp+80 x30:-80; "
        "sp+80 x30:-80",
        "sp+80 x30:-80");
    assert_packed(packed(0, 0, 0, 1, 80), "sp+64; sp+64; sp+64; sp+64; sp+80",
        "sp+64; sp+80");
    /* as many as there are */
    assert_packed(packed(0, 10, 0, 0, 80),
        "sp+80 x19:-80 x20:-72; "
        "sp+80 x19:-80 x20:-72 x21:-64 x22:-56; "
        "sp+80 x19:-80 x20:-72 x21:-64 x22:-56 x23:-48 x24:-40; "
        "sp+80 x19:-80 x20:-72 x21:-64 x22:-56 x23:-48 x24:-40 x25:-32 "
        "x26:-24; "
        "sp+80 x19:-80 x20:-72 x21:-64 x22:-56 x23:-48 x24:-40 x25:-32 "
        "x26:-24 x27:-16 x28:-8",
        NULL);
    assert_packed(
        packed(0, 11, 0, 0, 160), "more registers than there are", NULL);
    assert_packed(
        packed(1, 1, 0, 0, 16), "x19 and LR in one pair, alone", NULL);
    assert_packed(
        packed(0, 4, 0, 0, 16), "a frame too small for what is saved", NULL);
    assert_packed(
        packed(3, 2, 0, 0, 16), "a frame too small for what is saved", NULL);
}

/* ---- files */

static void u16(struct wndl_buf *b, unsigned value)
{
    wndl_buf_byte(b, (uint8_t)value);
    wndl_buf_byte(b, (uint8_t)(value >> 8));
}

static void fill_to(struct wndl_buf *b, size_t offset)
{
    assert_true(b->size <= offset);
    while (b->size < offset)
        wndl_buf_byte(b, 0);
}

/* One section, which has all. */
static void put_headers(
    struct wndl_buf *b, unsigned machine, uint32_t size, uint32_t entries)
{
    const uint32_t section[] = {size, DATA, size, DATA_AT, 0, 0, 0, 0x40000040};
    wndl_buf_add(b, "MZ", 2);
    fill_to(b, 0x3c);
    wndl_buf_u32le(b, 0x40);
    wndl_buf_add(b, "PE\0\0", 4);
    u16(b, machine);
    u16(b, 1);
    fill_to(b, b->size + 12);
    u16(b, 240);
    u16(b, 2);
    u16(b, 0x20b);
    fill_to(b, b->size + 22);
    wndl_buf_u32le(b, BASE);
    fill_to(b, b->size + 80);
    wndl_buf_u32le(b, 16);
    fill_to(b, b->size + 24);
    wndl_buf_u32le(b, DATA);
    wndl_buf_u32le(b, entries * 8);
    fill_to(b, b->size + 96);
    wndl_buf_add(b, ".rdata\0", 8);
    for (size_t i = 0; i < 8; i++)
        wndl_buf_u32le(b, section[i]);
    fill_to(b, DATA_AT);
}

static uint32_t header(
    uint32_t instructions, unsigned last, unsigned epilogues, unsigned words)
{
    return instructions | last << 21 | epilogues << 22 | words << 27;
}

/* Each with the offset in .rdata where it ends up, from XDATA on. */
static void put_infos(struct wndl_buf *b)
{
    fill_to(b, DATA_AT + XDATA);
    /* 0x00: two epilogues, the second of other codes */
    wndl_buf_u32le(b, header(0x10, 0, 2, 2));
    wndl_buf_u32le(b, 4);
    wndl_buf_u32le(b, 9 | 3u << 22);
    wndl_buf_add(b, "\xe1\x81\xe4\x81\xe4\xe3\xe3\xe3", 8);
    /* 0x14: one at the end, of the codes of the prologue */
    wndl_buf_u32le(b, header(8, 1, 0, 1));
    wndl_buf_add(b, "\x02\x24\xe4\xe3", 4);
    /* 0x1c: counts in a word of their own; an epilogue of no size */
    wndl_buf_u32le(b, header(4, 0, 0, 0));
    wndl_buf_u32le(b, 1 | 1u << 16);
    wndl_buf_u32le(b, 3 | 2u << 22);
    wndl_buf_add(b, "\x01\xe4\xe4\xe3", 4);
    /* 0x2c: version 1 */
    wndl_buf_u32le(b, header(4, 0, 0, 1) | 1 << 18);
    wndl_buf_add(b, "\xe4\xe3\xe3\xe3", 4);
    /* 0x34: no codes */
    wndl_buf_u32le(b, header(4, 0, 1, 0));
    wndl_buf_u32le(b, 0);
    /* 0x3c: an epilogue behind its function, one before the other */
    wndl_buf_u32le(b, header(8, 0, 3, 1));
    wndl_buf_u32le(b, 6);
    wndl_buf_u32le(b, 4);
    wndl_buf_u32le(b, 5);
    wndl_buf_add(b, "\x02\x24\xe4\xe3", 4);
    fill_to(b, DATA_AT + DATA_SIZE);
}

static struct wndl_bytes make(struct wndl_buf *b, unsigned machine)
{
    const uint32_t info = DATA + XDATA;
    const uint32_t list[ENTRIES][2] = {
        {0x1000, info},
        {0x1040, info + 0x14},
        {0x1060, info + 0x1c},
        {0x1070, packed(3, 0, 0, 0, 32)},     /* up to 0x10b0 */
        {0x10b0, packed(3, 0, 0, 0, 32) ^ 3}, /* in the middle of one */
        {0x10f0, info + 0x2c},
        {0x1100, info + 0x34},
        {0x1110, info + 0x3c},
        {0x1130, packed(0, 0, 0, 0, 32) | 2}, /* of an unknown kind */
        {0x1124, packed(0, 0, 0, 0, 32)},     /* in the one before */
        {0x1170, packed(0, 0, 0, 0, 32)},     /* ends in the next */
        {0x1180, packed(0, 0, 0, 0, 32)},
    };
    wndl_buf_init(b, wndl_mem_libc());
    put_headers(b, machine, DATA_SIZE, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        wndl_buf_u32le(b, list[i][0]);
        wndl_buf_u32le(b, list[i][1]);
    }
    put_infos(b);
    assert_false(b->failed);
    return (struct wndl_bytes){b->data, b->size};
}

static void assert_rule(
    const struct wndl_cfi_source *cfi, uint64_t rva, const char *expected)
{
    char text[512] = "none";
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
        {0x1000, "sp+0"},
        {0x1004, "sp+16 x29:-16 x30:-8"},
        {0x1008, "fp+16 x29:-16 x30:-8"},
        {0x1014, "sp+16 x29:-16 x30:-8"},
        {0x1018, "sp+0"},
        {0x101c, "fp+16 x29:-16 x30:-8"},
        {0x1023, "fp+16 x29:-16 x30:-8"},
        {0x1024, "sp+16 x29:-16 x30:-8"},
        {0x1028, "sp+0"},
        {0x102c, "fp+16 x29:-16 x30:-8"},
        {0x1044, "sp+32 x19:-32 x20:-24"},
        {0x1048, "sp+64 x19:-32 x20:-24"},
        {0x1053, "sp+64 x19:-32 x20:-24"},
        {0x1058, "sp+32 x19:-32 x20:-24"},
        {0x105c, "sp+0"},
        {0x1064, "sp+16"},
        {0x106c, "sp+0"},
        {0x1074, "sp+32 x29:-32 x30:-24"},
        {0x1078, "fp+32 x29:-32 x30:-24"},
        {0x10a7, "fp+32 x29:-32 x30:-24"},
        {0x10a8, "sp+32 x29:-32 x30:-24"},
        {0x10ac, "sp+0"},
        {0x10b0, "fp+32 x29:-32 x30:-24"},
        {0x10ec, "fp+32 x29:-32 x30:-24"},
        {0x10f0, "none"},
        {0x1100, "none"},
        {0x1118, "sp+64 x19:-32 x20:-24"},
        {0x1120, "sp+64 x19:-32 x20:-24"},
        {0x1124, "sp+32 x19:-32 x20:-24"},
        {0x1128, "sp+0"},
        {0x112c, "sp+64 x19:-32 x20:-24"},
        {0x1130, "none"},
        {0x1170, "none"},
        {0x1184, "sp+32"},
        {0x11bc, "sp+0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_rule(cfi, rules[i].rva, rules[i].rule);
    assert_int_equal(cfi->unsupported.count, 2);
    assert_int_equal(cfi->unsupported.first.offset, 5 * 8);
    assert_int_equal(cfi->damaged.count, 5);
    assert_int_equal(cfi->damaged.first.offset, 6 * 8);
    assert_string_equal(cfi->damaged.first.section, ".pdata");
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
    assert_true(cfi.origins.len <= 7);
    if (prefix.size == whole) {
        assert_int_equal(cfi.origins.len, 7);
        check_whole(&cfi);
    } else if (prefix.size < DATA_AT + XDATA + 0x50) {
        assert_true(cfi.damaged.count > 0);
    }
    wndl_arena_free(&arena);
    wndl_object_close(object);
}

static void test_truncated(void **state)
{
    struct wndl_buf b;
    (void)state;
    const struct wndl_bytes file = make(&b, 0xaa64);
    size_t whole = file.size;
    use_prefix(file, &whole);
    for_each_truncation(file, use_prefix, &whole);
    wndl_buf_free(&b);
}

static void test_arm_is_refused(void **state)
{
    struct wndl_buf b;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    struct wndl_error err = {0};
    (void)state;
    const struct wndl_bytes file = make(&b, 0x1c4);
    assert_int_equal(
        wndl_object_open(file, "a", wndl_mem_libc(), &object, NULL), WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(
        wndl_cfi_source_open(&cfi, object, &arena, &err), WNDL_UNSUPPORTED);
    char text[300];
    assert_non_null(
        strstr(wndl_error_text(&err, text, sizeof text), "32-bit Arm"));
    wndl_arena_free(&arena);
    wndl_object_close(object);
    wndl_buf_free(&b);
}

/* Functions that share as many epilogues as can be told, none of which is in
 * its function: what they may cost is bounded by the file. */
static void test_shared_epilogues(void **state)
{
    enum { FUNCTIONS = 200, EPILOGUES = 0xffff, CODES = 1016 };
    const uint32_t info = FUNCTIONS * 8, size = info + 8 + EPILOGUES * 4;
    struct wndl_buf b;
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    (void)state;
    wndl_buf_init(&b, wndl_mem_libc());
    put_headers(&b, 0xaa64, size + CODES, FUNCTIONS);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        wndl_buf_u32le(&b, 0x1000000 + 4 * i);
        wndl_buf_u32le(&b, DATA + info);
    }
    wndl_buf_u32le(&b, header(1, 0, 0, 0));
    wndl_buf_u32le(&b, EPILOGUES | CODES / 4 << 16);
    fill_to(&b, DATA_AT + size);
    while (b.size < DATA_AT + size + CODES - 1)
        wndl_buf_byte(&b, 0xe3);
    wndl_buf_byte(&b, 0xe4);
    assert_int_equal(wndl_object_open((struct wndl_bytes){b.data, b.size},
                         "a.exe", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_cfi_source_open(&cfi, object, &arena, NULL), WNDL_OK);
    assert_int_equal(cfi.origins.len, 1);
    assert_true(cfi.damaged.count >= FUNCTIONS);
    assert_true(cfi.damaged.count < EPILOGUES);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    wndl_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arm_is_refused),
        cmocka_unit_test(test_each_code),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_refused_codes),
        cmocka_unit_test(test_shared_epilogues),
        cmocka_unit_test(test_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
