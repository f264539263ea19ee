/* SPDX-License-Identifier: MIT */
/* PE images made by hand to be costly. Those that linkers make are
 * compared with LLVM's tools in tests/oracle. */
#include "testlib.h"

#include "base/buf.h"
#include "obj/core/object.h"

enum { BASE = 0x400000, CODE = 0x1000, CODE_AT = 0x4000, DIRECTORY = 40 };

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

/* Headers up to CODE_AT, where the first section's `size` bytes are to be,
 * which begin with the exports. Other sections are empty. */
static void make_headers(struct wndl_buf *b, unsigned sections, uint32_t size)
{
    wndl_buf_add(b, "MZ", 2);
    zeros(b, 0x3a);
    wndl_buf_u32le(b, 0x40);
    wndl_buf_add(b, "PE\0\0", 4);
    u16(b, 0x14c);
    u16(b, sections);
    zeros(b, 12);
    u16(b, 96 + 8);
    u16(b, 0x102);
    u16(b, 0x10b);
    zeros(b, 26);
    wndl_buf_u32le(b, BASE);
    zeros(b, 60);
    wndl_buf_u32le(b, 1);
    wndl_buf_u32le(b, CODE);
    wndl_buf_u32le(b, DIRECTORY);
    wndl_buf_add(b, ".text\0\0\0", 8);
    wndl_buf_u32le(b, size);
    wndl_buf_u32le(b, CODE);
    wndl_buf_u32le(b, size);
    wndl_buf_u32le(b, CODE_AT);
    zeros(b, 12);
    wndl_buf_u32le(b, 0x60000020);
    zeros(b, CODE_AT - b->size);
}

/* `count` exports of one place, of which each name has `size` bytes. Those
 * that are not `distinct` are the same bytes. */
struct exports {
    uint32_t count;
    uint32_t size;
    bool distinct;
    bool ended;
};

static void make_exports(struct wndl_buf *b, const struct exports *e)
{
    uint32_t numbers = DIRECTORY + 4;
    uint32_t list = numbers + 2 * e->count;
    uint32_t names = list + 4 * e->count;
    uint32_t texts = e->distinct ? e->count : 1;
    make_headers(b, 1, names + texts * (e->size + e->ended));
    zeros(b, 24);
    wndl_buf_u32le(b, e->count);
    wndl_buf_u32le(b, CODE + DIRECTORY);
    wndl_buf_u32le(b, CODE + list);
    wndl_buf_u32le(b, CODE + numbers);
    wndl_buf_u32le(b, CODE + DIRECTORY);
    zeros(b, 2 * (size_t)e->count);
    for (uint32_t i = 0; i < e->count; i++)
        wndl_buf_u32le(
            b, CODE + names + (e->distinct ? i * (e->size + e->ended) : 0));
    for (uint32_t i = 0; i < texts; i++) {
        for (uint32_t k = 0; k < e->size; k++)
            wndl_buf_byte(b, 'x');
        zeros(b, e->ended);
    }
}

/* How many functions there are; `*damaged` tells whether some were lost. */
static size_t count_exports(const struct exports *e, bool *damaged)
{
    struct wndl_buf b;
    struct wndl_object *object;
    const struct wndl_symbol *symbols;
    size_t count = 0;
    wndl_buf_init(&b, wndl_mem_libc());
    make_exports(&b, e);
    assert_int_equal(wndl_object_open((struct wndl_bytes){b.data, b.size},
                         "a.dll", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    if (wndl_object_functions(object, &symbols, &count, NULL) != WNDL_OK)
        count = 0;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(symbols[i].name.size, e->size);
    *damaged = wndl_object_damage(object) != NULL;
    wndl_object_close(object);
    wndl_buf_free(&b);
    return count;
}

static void names_of_exports_are_read(void **state)
{
    (void)state;
    const struct exports few = {3, 5, true, true};
    const struct exports longest = {2, UINT16_MAX - 1, true, true};
    const struct exports too_long = {2, UINT16_MAX, true, true};
    bool damaged;
    assert_int_not_equal(count_exports(&few, &damaged), 0);
    assert_false(damaged);
    assert_int_not_equal(count_exports(&longest, &damaged), 0);
    assert_false(damaged);
    assert_int_equal(count_exports(&too_long, &damaged), 0);
}

/* Of one that does not end, 4 MiB read half a million times would take minutes;
 * of one that does, the names would be a thousand times the file. */
static void names_are_no_longer_than_the_file(void **state)
{
    (void)state;
    const struct exports endless = {1 << 19, 4 << 20, false, false};
    const struct exports same = {1 << 19, 60000, false, true};
    bool damaged;
    assert_int_equal(count_exports(&endless, &damaged), 0);
    assert_true(damaged);
    assert_in_range(count_exports(&same, &damaged), 1, 100);
    assert_true(damaged);
}

static void set_u32(struct wndl_buf *b, size_t at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        b->data[at + i] = (uint8_t)(value >> 8 * i);
}

/* Of `count` COFF symbols at addresses of their own, each is called as the one
 * before without its first letter; their one string has `size` bytes. */
static size_t count_symbols(uint32_t count, uint32_t size, bool *damaged)
{
    enum { SYMBOLS_AT = 0x4c, SYMBOL_COUNT = 0x50 };
    struct wndl_buf b;
    struct wndl_object *object;
    const struct wndl_symbol *symbols;
    size_t found = 0;
    wndl_buf_init(&b, wndl_mem_libc());
    make_headers(&b, 1, 1 << 20);
    set_u32(&b, SYMBOLS_AT, b.size);
    set_u32(&b, SYMBOL_COUNT, count);
    for (uint32_t i = 0; i < count; i++) {
        wndl_buf_u32le(&b, 0);
        wndl_buf_u32le(&b, 4 + i % size);
        wndl_buf_u32le(&b, i);
        u16(&b, 1);
        u16(&b, 0x20);
        u16(&b, 2);
    }
    wndl_buf_u32le(&b, 4 + size + 1);
    for (uint32_t i = 0; i < size; i++)
        wndl_buf_byte(&b, 'x');
    zeros(&b, 1);
    assert_int_equal(wndl_object_open((struct wndl_bytes){b.data, b.size},
                         "a.exe", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    if (wndl_object_functions(object, &symbols, &found, NULL) != WNDL_OK)
        found = 0;
    *damaged = wndl_object_damage(object) != NULL;
    wndl_object_close(object);
    wndl_buf_free(&b);
    return found;
}

/* Half a million names of 64 KiB would be 20 GB. */
static void names_of_symbols_are_not_much_longer(void **state)
{
    (void)state;
    bool damaged;
    assert_int_equal(count_symbols(1000, 100, &damaged), 1000);
    assert_false(damaged);
    assert_in_range(count_symbols(1 << 19, 60000, &damaged), 100, 10000);
    assert_true(damaged);
    assert_in_range(count_symbols(1 << 19, 1 << 20, &damaged), 0, 10000);
    assert_true(damaged);
}

static enum wndl_status open_with(unsigned sections)
{
    struct wndl_buf b;
    struct wndl_object *object;
    wndl_buf_init(&b, wndl_mem_libc());
    make_headers(&b, sections, 0);
    enum wndl_status status =
        wndl_object_open((struct wndl_bytes){b.data, b.size}, "a.dll",
            wndl_mem_libc(), &object, NULL);
    if (status == WNDL_OK)
        wndl_object_close(object);
    wndl_buf_free(&b);
    return status;
}

/* All are looked through for each symbol. */
static void sections_are_few(void **state)
{
    (void)state;
    assert_int_equal(open_with(256), WNDL_OK);
    assert_int_equal(open_with(257), WNDL_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_exports_are_read),
        cmocka_unit_test(names_are_no_longer_than_the_file),
        cmocka_unit_test(names_of_symbols_are_not_much_longer),
        cmocka_unit_test(sections_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
