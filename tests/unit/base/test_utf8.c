/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/utf8.h"

#include <string.h>

static bool controls(const char *text)
{
    return wndl_utf8_controls((const uint8_t *)text, strlen(text));
}

static void characters_that_control_a_terminal_are_known(void **state)
{
    (void)state;
    assert_true(controls("\x1b[31m"));
    assert_true(controls("\n"));
    assert_true(controls("\x7f"));
    assert_true(controls("\xc2\x80"));
    assert_true(controls("\xc2\x9b"));
    assert_false(controls("\xc2\xa0"));
    assert_false(controls("\xc3\x9b"));
    assert_false(controls("\xc2"));
    assert_false(controls(" "));
    assert_false(controls("x"));
}

static void check_plain(const char *text, const char *expected)
{
    struct wndl_buf buf;
    wndl_buf_init(&buf, wndl_mem_libc());
    wndl_utf8_plain(
        &buf, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
    wndl_buf_byte(&buf, '\0');
    assert_string_equal((const char *)buf.data, expected);
    wndl_buf_free(&buf);
}

static void plain_text_controls_no_terminal(void **state)
{
    (void)state;
    check_plain("a\x1b[31mb", "a [31mb");
    check_plain("a\xc2\x9b"
                "31mb",
        "a 31mb");
    check_plain("a\x9b", "a\xef\xbf\xbd");
    check_plain("\xc3\xa9", "\xc3\xa9");
}

static void plain_lines_keep_their_ends(void **state)
{
    (void)state;
    struct wndl_buf text, plain;
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_buf_init(&plain, wndl_mem_libc());
    wndl_buf_text(&text, "one\x1b\n\ntwo\x07\nlast");
    wndl_utf8_plain_lines(&plain, &text);
    wndl_buf_byte(&plain, '\0');
    assert_string_equal((const char *)plain.data, "one \n\ntwo \nlast");
    wndl_buf_free(&text);
    wndl_buf_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_that_control_a_terminal_are_known),
        cmocka_unit_test(plain_text_controls_no_terminal),
        cmocka_unit_test(plain_lines_keep_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
