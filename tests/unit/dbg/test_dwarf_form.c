/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dbg/dwarf/internal.h"

static const struct wndl_dw_encoding v5 = {5, 8, 4};

/* Reads `form` out of `bytes`, and checks how far that goes. */
static struct wndl_dw_value read_all(
    unsigned form, const char *bytes, size_t size, bool big_endian)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){(const uint8_t *)bytes, size}, 0, big_endian);
    struct wndl_dw_value v = wndl_dw_read_form(&c, form, v5);
    assert_false(c.failed);
    assert_int_equal(wndl_cursor_left(&c), 0);
    int64_t known = wndl_dw_form_size(form, v5);
    assert_true(known == WNDL_DW_VARIES || known == (int64_t)size);
    return v;
}

static void check(
    unsigned form, const char *bytes, size_t size, uint64_t u, unsigned kind)
{
    struct wndl_dw_value v = read_all(form, bytes, size, false);
    assert_int_equal(v.u, u);
    assert_int_equal(v.kind, kind);
}

static void numbers_of_every_size(void **state)
{
    (void)state;
    check(0x0b, "\xfe", 1, 0xfe, WNDL_DW_NUMBER);
    check(0x05, "\x01\x02", 2, 0x0201, WNDL_DW_NUMBER);
    check(0x06, "\x01\x02\x03\x04", 4, 0x04030201, WNDL_DW_NUMBER);
    check(0x07, "\1\2\3\4\5\6\7\x08", 8, 0x0807060504030201, WNDL_DW_NUMBER);
    check(0x0f, "\x80\x01", 2, 128, WNDL_DW_NUMBER);
    check(0x0d, "\x7f", 1, UINT64_MAX, WNDL_DW_NUMBER);
    struct wndl_dw_value v = read_all(0x05, "\x01\x02", 2, true);
    assert_int_equal(v.u, 0x0102);
}

static void indexes_of_three_bytes_in_both_byte_orders(void **state)
{
    (void)state;
    check(0x27, "\x01\x02\x03", 3, 0x030201, WNDL_DW_STRING_INDEX);
    check(0x2b, "\x01\x02\x03", 3, 0x030201, WNDL_DW_ADDRESS_INDEX);
    struct wndl_dw_value v = read_all(0x27, "\x01\x02\x03", 3, true);
    assert_int_equal(v.u, 0x010203);
}

static void strings_addresses_and_references(void **state)
{
    (void)state;
    check(0x01, "\0\x10\0\0\0\0\0\0", 8, 0x1000, WNDL_DW_ADDRESS);
    check(0x08, "text", 5, 0, WNDL_DW_STRING);
    check(0x0e, "\x09\0\0\0", 4, 9, WNDL_DW_STRING_AT);
    check(0x1f, "\x09\0\0\0", 4, 9, WNDL_DW_LINE_STRING_AT);
    check(0x1a, "\x81\x01", 2, 129, WNDL_DW_STRING_INDEX);
    check(0x25, "\x09", 1, 9, WNDL_DW_STRING_INDEX);
    check(0x28, "\x09\0\0\0", 4, 9, WNDL_DW_STRING_INDEX);
    check(0x1b, "\x09", 1, 9, WNDL_DW_ADDRESS_INDEX);
    check(0x2c, "\x09\0\0\0", 4, 9, WNDL_DW_ADDRESS_INDEX);
    check(0x11, "\x09", 1, 9, WNDL_DW_UNIT_REFERENCE);
    check(0x15, "\x09", 1, 9, WNDL_DW_UNIT_REFERENCE);
    check(0x10, "\x09\0\0\0", 4, 9, WNDL_DW_REFERENCE);
    check(0x17, "\x09\0\0\0", 4, 9, WNDL_DW_OFFSET);
    check(0x23, "\x09", 1, 9, WNDL_DW_LIST_INDEX);
    check(0x2001, "\x09\x01\0\0\0", 5, 0x900000001, WNDL_DW_ADDRESS_BEYOND);
    check(0x18, "\x02zz", 3, 0, WNDL_DW_EXPRESSION);
    check(0x1c, "\x09\0\0\0", 4, 9, WNDL_DW_SUP_REFERENCE);
    check(0x1d, "\x09\0\0\0", 4, 9, WNDL_DW_SUP_STRING_AT);
}

static void what_is_not_kept_is_read_past(void **state)
{
    (void)state;
    check(0x0a, "\x02zz", 3, 0, WNDL_DW_OTHER);
    check(0x03, "\x02\0zz", 4, 0, WNDL_DW_OTHER);
    check(0x04, "\x02\0\0\0zz", 6, 0, WNDL_DW_OTHER);
    check(0x09, "\x02zz", 3, 0, WNDL_DW_OTHER);
    check(0x19, "", 0, 0, WNDL_DW_OTHER);
    check(0x1e, "0123456789abcdef", 16, 0, WNDL_DW_OTHER);
    assert_int_equal(read_all(0x20, "01234567", 8, false).kind, WNDL_DW_OTHER);
}

static void sizes_follow_the_encoding(void **state)
{
    (void)state;
    static const struct wndl_dw_encoding v2_64 = {2, 4, 8};
    static const struct wndl_dw_encoding v3_64 = {3, 4, 8};
    assert_int_equal(wndl_dw_form_size(0x10, v2_64), 4); /* ref_addr */
    assert_int_equal(wndl_dw_form_size(0x10, v3_64), 8);
    assert_int_equal(wndl_dw_form_size(0x01, v3_64), 4);
    assert_int_equal(wndl_dw_form_size(0x17, v3_64), 8);
    assert_int_equal(wndl_dw_form_size(0x1f20, v3_64), 8);
    assert_int_equal(wndl_dw_form_size(0x02, v5), -1);
    assert_int_equal(wndl_dw_form_size(0x2d, v5), -1);
    assert_int_equal(wndl_dw_form_size(0x1f22, v5), -1);
}

static bool indirect_fails(const char *bytes, size_t size)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){(const uint8_t *)bytes, size}, 0, false);
    (void)wndl_dw_read_form(&c, 0x16, v5);
    return c.failed;
}

static void indirect_is_followed_but_not_without_end(void **state)
{
    (void)state;
    check(0x16, "\x0b\x09", 2, 9, WNDL_DW_NUMBER);
    check(0x16, "\x16\x16\x0b\x09", 4, 9, WNDL_DW_NUMBER);
    check(0x16, "\x16\x13\x09\0\0\0", 6, 9, WNDL_DW_UNIT_REFERENCE);
    assert_true(indirect_fails("\x16\x16\x16\x16\x0b\x09", 6));
    assert_true(indirect_fails("\x21", 1)); /* has no constant here */
    assert_true(indirect_fails("\x02", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_size),
        cmocka_unit_test(indexes_of_three_bytes_in_both_byte_orders),
        cmocka_unit_test(strings_addresses_and_references),
        cmocka_unit_test(what_is_not_kept_is_read_past),
        cmocka_unit_test(sizes_follow_the_encoding),
        cmocka_unit_test(indirect_is_followed_but_not_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
