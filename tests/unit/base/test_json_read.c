/* SPDX-License-Identifier: MIT */
/* JSON that arrives in pieces: each text is read whole and byte by byte. */
#include "testlib.h"

#include "base/json_read.h"

#include <stdlib.h>

/* The text, how much of it a piece has, and the last piece, in memory of its
 * own that is gone with the next one. */
struct source {
    struct wndl_bytes left;
    size_t piece;
    uint8_t *last;
};

static struct source source;
static struct wndl_json_reader r;
static struct wndl_error error;

static enum wndl_status next_piece(
    void *context, struct wndl_bytes *piece, struct wndl_error *err)
{
    struct source *s = context;
    (void)err;
    const size_t size = s->left.size < s->piece ? s->left.size : s->piece;
    if (s->last != NULL)
        memset(s->last, 'x', s->piece);
    free(s->last);
    s->last = malloc(s->piece);
    assert_non_null(s->last);
    memcpy(s->last, s->left.data, size);
    *piece = (struct wndl_bytes){s->last, size};
    s->left = (struct wndl_bytes){s->left.data + size, s->left.size - size};
    return WNDL_OK;
}

static void begin(const char *text, size_t piece)
{
    free(source.last);
    source =
        (struct source){{(const uint8_t *)text, strlen(text)}, piece, NULL};
    error = (struct wndl_error){0};
    wndl_json_begin(&r, next_piece, &source, wndl_mem_libc(), &error);
}

#define FOR_EACH_PIECE(piece, text)                                            \
    for (size_t piece = 1; piece <= strlen(text); piece++)

/* The first failure is at `offset`. */
static void end_failed(enum wndl_status status, uint64_t offset)
{
    assert_int_equal(r.status, status);
    assert_int_equal(error.status, status);
    assert_true(error.offset == offset);
    wndl_json_end(&r);
}

static void end_well(void)
{
    wndl_json_expect_end(&r);
    assert_int_equal(r.status, WNDL_OK);
    wndl_json_end(&r);
}

/* ---- numbers */

static void number_is(const char *text, uint64_t expected)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_true(wndl_json_read_u64(&r) == expected);
        end_well();
    }
}

static void no_number_is(const char *text, uint64_t offset)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_true(wndl_json_read_u64(&r) == 0);
        end_failed(WNDL_MALFORMED, offset);
    }
}

static void whole_numbers_have_64_bits(void **state)
{
    (void)state;
    number_is("0", 0);
    number_is(" \t\r\n7 ", 7);
    number_is("10", 10);
    number_is("18446744073709551615", UINT64_MAX);
    no_number_is("18446744073709551616", 0);
    no_number_is("99999999999999999999", 0);
    no_number_is("01", 0);
    no_number_is(" -1", 1);
    no_number_is("1.0", 0);
    no_number_is("1e3", 0);
    no_number_is("5x", 0);
    no_number_is("\"1\"", 0);
}

static void signed_is(const char *text, int64_t expected)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_true(wndl_json_read_i64(&r) == expected);
        end_well();
    }
}

static void no_signed_is(const char *text)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_true(wndl_json_read_i64(&r) == 0);
        end_failed(WNDL_MALFORMED, 0);
    }
}

static void signed_numbers_have_64_bits(void **state)
{
    (void)state;
    signed_is("0", 0);
    signed_is("-0", 0);
    signed_is("-12", -12);
    signed_is("9223372036854775807", INT64_MAX);
    signed_is("-9223372036854775808", INT64_MIN);
    no_signed_is("9223372036854775808");
    no_signed_is("-9223372036854775809");
    no_signed_is("-");
    no_signed_is("--1");
    no_signed_is("-x");
}

/* ---- strings */

static void string_is(const char *text, const char *expected)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_true(wndl_bytes_is(wndl_json_read_string(&r), expected));
        end_well();
    }
}

static void strings_are_unescaped(void **state)
{
    (void)state;
    string_is("\"\"", "");
    string_is(" \"plain\" ", "plain");
    string_is("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    string_is("\"\\u0041\\u007f\\u0080\"", "A\x7f\xc2\x80");
    string_is("\"\\u07ff\\u0800\"", "\xdf\xbf\xe0\xa0\x80");
    string_is("\"\\ud7ff\\ue000\"", "\xed\x9f\xbf\xee\x80\x80");
    string_is("\"\\uFFFF\\uffff\"", "\xef\xbf\xbf\xef\xbf\xbf");
    string_is("\"\\ud800\\udc00\"", "\xf0\x90\x80\x80");
    string_is("\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf");
    string_is("\"\xc3\xa4\"", "\xc3\xa4");
}

static void no_string_is(
    const char *text, enum wndl_status status, uint64_t offset)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_int_equal(wndl_json_read_string(&r).size, 0);
        end_failed(status, offset);
    }
}

static void damaged_strings_are_said_with_their_place(void **state)
{
    (void)state;
    no_string_is("7", WNDL_MALFORMED, 0);
    no_string_is(" \"\\x\"", WNDL_MALFORMED, 2);
    no_string_is("\"\\u00g0\"", WNDL_MALFORMED, 1);
    no_string_is("\"\\u00:0\"", WNDL_MALFORMED, 1);
    no_string_is("\"\\udc00\"", WNDL_MALFORMED, 1);
    no_string_is("\"\\ud800\"", WNDL_MALFORMED, 1);
    no_string_is("\"\\ud800\\udbff\"", WNDL_MALFORMED, 1);
    no_string_is("\"\\ud800\\ue000\"", WNDL_MALFORMED, 1);
    no_string_is("\"\\ud800 udc00\"", WNDL_MALFORMED, 1);
    no_string_is("\"\xff\"", WNDL_MALFORMED, 1);
    no_string_is("\"a\nb\"", WNDL_MALFORMED, 1);
    no_string_is("\"abc", WNDL_TRUNCATED, 4);
    no_string_is("\"abc\\\"", WNDL_TRUNCATED, 6);
    no_string_is("  ", WNDL_TRUNCATED, 2);
}

/* One of 1 MiB is allowed, in one piece or in many. */
static void strings_have_a_limit(void **state)
{
    (void)state;
    static char text[WNDL_JSON_STRING_MAX + 4];
    static const size_t pieces[] = {sizeof text, 4096, 1000};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        memset(text, 'a', sizeof text);
        text[0] = text[WNDL_JSON_STRING_MAX + 1] = '"';
        text[WNDL_JSON_STRING_MAX + 2] = '\0';
        begin(text, pieces[i]);
        assert_int_equal(wndl_json_read_string(&r).size, WNDL_JSON_STRING_MAX);
        end_well();
        text[WNDL_JSON_STRING_MAX + 1] = 'a';
        text[WNDL_JSON_STRING_MAX + 2] = '"';
        text[WNDL_JSON_STRING_MAX + 3] = '\0';
        begin(text, pieces[i]);
        (void)wndl_json_read_string(&r);
        assert_int_equal(r.status, WNDL_LIMIT);
        wndl_json_end(&r);
    }
}

/* ---- objects, arrays, words */

static void members_are_read_one_by_one(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"a\" : true,\"\\u0062\":[ false , null,[ ],{}], \"c\":{\"d\" :-1}}";
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        assert_true(wndl_json_enter(&r, '{', "an object"));
        assert_true(wndl_bytes_is(wndl_json_read_key(&r), "a"));
        assert_true(wndl_json_read_truth(&r));
        assert_true(wndl_json_another(&r, '}'));
        assert_true(wndl_bytes_is(wndl_json_read_key(&r), "b"));
        assert_true(wndl_json_enter(&r, '[', "an array"));
        assert_false(wndl_json_read_null(&r));
        assert_false(wndl_json_read_truth(&r));
        assert_true(wndl_json_another(&r, ']'));
        assert_true(wndl_json_read_null(&r));
        assert_true(wndl_json_another(&r, ']'));
        assert_false(wndl_json_enter(&r, '[', "an array"));
        assert_true(wndl_json_another(&r, ']'));
        assert_false(wndl_json_enter(&r, '{', "an object"));
        assert_false(wndl_json_another(&r, ']'));
        assert_true(wndl_json_another(&r, '}'));
        assert_true(wndl_bytes_is(wndl_json_read_key(&r), "c"));
        wndl_json_skip(&r);
        assert_false(wndl_json_another(&r, '}'));
        assert_int_equal(wndl_json_offset(&r), strlen(text));
        end_well();
    }
}

static void words_are_read_as_a_whole(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "tru", "tre", "True", "fals", "1", "tfalse", "ftrue"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FOR_EACH_PIECE(piece, wrong[i])
        {
            begin(wrong[i], piece);
            assert_false(wndl_json_read_truth(&r));
            end_failed(WNDL_MALFORMED, 0);
        }
    begin("[falsee]", 1);
    assert_true(wndl_json_enter(&r, '[', "an array"));
    assert_false(wndl_json_read_truth(&r));
    assert_false(wndl_json_another(&r, ']'));
    end_failed(WNDL_MALFORMED, 6);
    begin("nul", 1);
    assert_false(wndl_json_read_null(&r));
    end_failed(WNDL_MALFORMED, 0);
}

static void separators_are_required(void **state)
{
    (void)state;
    begin("[1 2]", 1);
    assert_true(wndl_json_enter(&r, '[', "an array"));
    assert_true(wndl_json_read_u64(&r) == 1);
    assert_false(wndl_json_another(&r, ']'));
    end_failed(WNDL_MALFORMED, 3);
    begin("\"a\" 1", 1);
    assert_int_equal(wndl_json_read_key(&r).size, 0);
    end_failed(WNDL_MALFORMED, 4);
    begin("7", 1);
    assert_false(wndl_json_enter(&r, '{', "an object"));
    end_failed(WNDL_MALFORMED, 0);
    begin("1 2", 1);
    assert_true(wndl_json_read_u64(&r) == 1);
    wndl_json_expect_end(&r);
    end_failed(WNDL_MALFORMED, 2);
}

/* Of the first failure: later ones change nothing. */
static void failure_is_kept(void **state)
{
    (void)state;
    begin("x 1", 2);
    wndl_json_fail(&r, WNDL_LIMIT, "first");
    wndl_json_fail(&r, WNDL_MALFORMED, "second");
    assert_true(wndl_json_read_u64(&r) == 0);
    assert_int_equal(wndl_json_peek(&r), 0);
    assert_false(wndl_json_another(&r, ']'));
    end_failed(WNDL_LIMIT, 0);
}

/* ---- values that are skipped */

static void skipped_value_is_followed_by(const char *text, const char *rest)
{
    FOR_EACH_PIECE(piece, text)
    {
        begin(text, piece);
        wndl_json_skip(&r);
        assert_int_equal(wndl_json_peek(&r), (uint8_t)rest[0]);
        assert_int_equal(wndl_json_offset(&r), strlen(text) - strlen(rest));
        wndl_json_end(&r);
    }
}

static void values_are_skipped_by_their_brackets(void **state)
{
    (void)state;
    skipped_value_is_followed_by("17,", ",");
    skipped_value_is_followed_by("\"],}\"]", "]");
    skipped_value_is_followed_by(
        "{\"a\": [1, {\"]\": \"}\"}], \"b\": 2}}", "}");
    skipped_value_is_followed_by("[[[],{}],[]],", ",");
    begin("[1}", 1);
    wndl_json_skip(&r);
    end_failed(WNDL_MALFORMED, 2);
    begin("{\"a\":[}]", 1);
    wndl_json_skip(&r);
    end_failed(WNDL_MALFORMED, 6);
    begin("[[", 1);
    wndl_json_skip(&r);
    end_failed(WNDL_TRUNCATED, 2);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    static char text[2 * WNDL_JSON_DEPTH_MAX + 4];
    memset(text, '[', WNDL_JSON_DEPTH_MAX);
    memset(text + WNDL_JSON_DEPTH_MAX, ']', WNDL_JSON_DEPTH_MAX);
    text[2 * WNDL_JSON_DEPTH_MAX] = ',';
    begin(text, 7);
    wndl_json_skip(&r);
    assert_int_equal(wndl_json_peek(&r), ',');
    wndl_json_end(&r);
    text[WNDL_JSON_DEPTH_MAX] = '[';
    begin(text, 7);
    wndl_json_skip(&r);
    end_failed(WNDL_LIMIT, WNDL_JSON_DEPTH_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_have_64_bits),
        cmocka_unit_test(signed_numbers_have_64_bits),
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(damaged_strings_are_said_with_their_place),
        cmocka_unit_test(strings_have_a_limit),
        cmocka_unit_test(members_are_read_one_by_one),
        cmocka_unit_test(words_are_read_as_a_whole),
        cmocka_unit_test(separators_are_required),
        cmocka_unit_test(failure_is_kept),
        cmocka_unit_test(values_are_skipped_by_their_brackets),
        cmocka_unit_test(nesting_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
