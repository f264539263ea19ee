/* SPDX-License-Identifier: MIT */
/*
 * PE made by hand, of both sizes: two functions, which have COFF symbols or
 * are exported, and the record of a PDB file.
 */
#include "testlib.h"

#include "base/buf.h"
#include "obj/pe/pe.h"

#include <stdlib.h>

enum { SECTIONS_AT = 0x200, TEXT = 0x1000, DATA = 0x2000, SYMBOLS_AT = 0x500 };

static const char names[] = "first\0second_of_two";

struct maker {
    struct wndl_buf out;
    bool wide;
    bool has_symbols;
    bool is_short;  /* has few parts */
    size_t headers; /* bytes of them */
};

static void u16(struct wndl_buf *b, unsigned value)
{
    wndl_buf_byte(b, (uint8_t)value);
    wndl_buf_byte(b, (uint8_t)(value >> 8));
}

static void u32(struct wndl_buf *b, uint32_t value)
{
    wndl_buf_u32le(b, value);
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

static void put_section(struct maker *m, const char name[8], uint32_t rva,
    uint32_t size, uint32_t offset)
{
    bool is_code = rva == TEXT;
    wndl_buf_add(&m->out, name, 8);
    u32(&m->out, size);
    u32(&m->out, rva);
    u32(&m->out, size);
    u32(&m->out, offset);
    zeros(&m->out, 12);
    u32(&m->out, is_code ? 0x60000020 : 0x40000040);
}

static void put_headers(struct maker *m)
{
    struct wndl_buf *b = &m->out;
    wndl_buf_add(b, "MZ", 2);
    fill_to(b, 0x3c);
    u32(b, 0x40);
    wndl_buf_add(b, "PE\0\0", 4);
    u16(b, m->wide ? 0x8664 : 0x14c);
    u16(b, 2);
    u32(b, 0);
    u32(b, m->has_symbols ? SYMBOLS_AT : 0);
    u32(b, m->has_symbols ? 2 : 0);
    u16(b, m->wide ? 240 : 224);
    u16(b, 2);
    u16(b, m->wide ? 0x20b : 0x10b);
    zeros(b, m->wide ? 22 : 26);
    u32(b, 0x400000);
    zeros(b, m->wide ? 4 + 76 : 60);
    u32(b, m->is_short ? 6 : 16); /* parts; the 7th has the PDB */
    u32(b, DATA);
    u32(b, 0x80);
    zeros(b, 5 * 8);
    u32(b, DATA + 0x80);
    u32(b, 28);
    zeros(b, 9 * 8);
    put_section(m, ".text\0\0", TEXT, 0x100, SECTIONS_AT);
    put_section(m, ".rdata\0", DATA, 0x200, SECTIONS_AT + 0x100);
    m->headers = b->size;
}

static void put_exports(struct wndl_buf *b)
{
    zeros(b, 24);
    u32(b, 2);
    u32(b, DATA + 0x28);
    u32(b, DATA + 0x30);
    u32(b, DATA + 0x38);
    u32(b, TEXT + 0x10);
    u32(b, TEXT + 0x40);
    u32(b, DATA + 0x40);
    u32(b, DATA + 0x46);
    u16(b, 0);
    u16(b, 1);
    fill_to(b, SECTIONS_AT + 0x140);
    wndl_buf_add(b, names, sizeof names);
}

static void put_pdb(struct wndl_buf *b)
{
    zeros(b, 12);
    u32(b, 2);
    u32(b, 4 + 16 + 4 + 11);
    u32(b, DATA + 0xa0);
    u32(b, SECTIONS_AT + 0x1a0);
    fill_to(b, SECTIONS_AT + 0x1a0);
    wndl_buf_add(b, "RSDS0123456789abcdef\1\0\0\0C:\\o\\a.pdb", 4 + 20 + 11);
}

static void put_symbols(struct wndl_buf *b)
{
    static const uint8_t external_function[] = {1, 0, 0x20, 0, 2, 0};
    wndl_buf_add(b, "first\0\0", 8);
    u32(b, 0x10);
    wndl_buf_add(b, external_function, sizeof external_function);
    u32(b, 0);
    u32(b, 4); /* the first of the strings */
    u32(b, 0x40);
    wndl_buf_add(b, external_function, sizeof external_function);
    u32(b, 4 + sizeof names - 6);
    wndl_buf_add(b, names + 6, sizeof names - 6);
}

static struct wndl_bytes make(struct maker *m)
{
    wndl_buf_init(&m->out, wndl_mem_libc());
    put_headers(m);
    fill_to(&m->out, SECTIONS_AT + 0x100);
    put_exports(&m->out);
    fill_to(&m->out, SECTIONS_AT + 0x180);
    put_pdb(&m->out);
    fill_to(&m->out, SYMBOLS_AT);
    if (m->has_symbols)
        put_symbols(&m->out);
    assert_false(m->out.failed);
    return (struct wndl_bytes){m->out.data, m->out.size};
}

/* How many functions it has; none is one that is not in the whole file. */
static size_t count_functions(struct wndl_object *object)
{
    const struct wndl_symbol *symbols;
    size_t count;
    if (wndl_object_functions(object, &symbols, &count, NULL) != WNDL_OK)
        return 0;
    for (size_t i = 0; i < count; i++) {
        bool is_first = wndl_bytes_is(symbols[i].name, "first");
        assert_true(is_first || wndl_bytes_is(symbols[i].name, names + 6));
        assert_int_equal(
            symbols[i].addr.v, 0x400000 + TEXT + (is_first ? 0x10 : 0x40));
    }
    return count;
}

static void use_prefix(struct wndl_bytes prefix, void *context)
{
    const struct maker *m = context;
    struct wndl_object *object;
    struct wndl_pe_pdb pdb;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_object_open(prefix, "a.exe", wndl_mem_libc(), &object, &err);
    if (prefix.size < m->headers) {
        assert_int_not_equal(status, WNDL_OK);
        assert_string_not_equal(err.what, "");
        assert_string_equal(err.file, "a.exe");
        return;
    }
    assert_int_equal(status, WNDL_OK);
    size_t count = count_functions(object);
    bool has_pdb = wndl_pe_find_pdb(object, &pdb) == WNDL_OK;
    assert_true(!has_pdb || memcmp(pdb.guid.data, "0123456789abcdef", 16) == 0);
    if (prefix.size == m->out.size) {
        assert_int_equal(count, 2);
        assert_true(has_pdb && wndl_bytes_is(pdb.path, "C:\\o\\a.pdb"));
    }
    wndl_object_close(object);
}

static void test_truncated(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct maker m = {.wide = (i & 1) != 0, .has_symbols = (i & 2) != 0};
        for_each_truncation(make(&m), use_prefix, &m);
        wndl_buf_free(&m.out);
    }
}

static void parts_after_the_last_are_not_read(void **state)
{
    (void)state;
    struct maker m = {.is_short = true};
    struct wndl_object *object;
    struct wndl_pe_pdb pdb;
    assert_int_equal(
        wndl_object_open(make(&m), "a.exe", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    assert_int_equal(count_functions(object), 2);
    assert_int_equal(wndl_pe_find_pdb(object, &pdb), WNDL_NOT_FOUND);
    wndl_object_close(object);
    wndl_buf_free(&m.out);
}

static void test_names_of_paths(void **state)
{
    static const char *const paths[][2] = {
        {"C:\\out\\a.exe", "a.exe"},
        {"out\\a.DLL", "a.DLL"},
        {"out\\a.pdb", "a.pdb"},
        {"d:/out\\a", "a"},
        {"/mnt/out\\a.exe", "a.exe"},
        {"/mnt/out\\a", "out\\a"},
        {"a\\b.so", "a\\b.so"},
        {"C:a\\b", "C:a\\b"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_string_equal(wndl_pe_path_name(paths[i][0]), paths[i][1]);
    assert_int_equal(wndl_pe_stem("a.b.Exe"), 3);
    assert_int_equal(wndl_pe_stem(".exe"), 0);
    assert_int_equal(wndl_pe_stem("a.pdb"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(parts_after_the_last_are_not_read),
        cmocka_unit_test(test_names_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
