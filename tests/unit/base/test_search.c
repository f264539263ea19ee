/* SPDX-License-Identifier: MIT */
/* base/search.h and base/text.h: every position of small lists. */
#include "base/search.h"

#include "base/text.h"
#include "testlib.h"

enum { MOST = 9 };

struct pair {
    uint32_t other;
    uint64_t key;
};

static void finds_the_border_in_lists_of_any_length(void **state)
{
    (void)state;
    struct pair pairs[MOST];
    for (size_t i = 0; i < MOST; i++)
        pairs[i] = (struct pair){UINT32_MAX, 10 * (i + 1)};
    for (size_t count = 0; count <= MOST; count++) {
        for (uint64_t key = 0; key <= 10 * (MOST + 1); key++) {
            size_t wanted = key / 10 < count ? key / 10 : count;
            assert_int_equal(
                wndl_search_up_to(&pairs[0].key, sizeof *pairs, count, key),
                wanted);
        }
    }
}

static void counts_equal_keys_as_one_run(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 2, 2, 2, UINT64_MAX};
    assert_int_equal(wndl_search_up_to(keys, sizeof *keys, 5, 1), 1);
    assert_int_equal(wndl_search_up_to(keys, sizeof *keys, 5, 2), 4);
    assert_int_equal(wndl_search_up_to(keys, sizeof *keys, 5, 3), 4);
    assert_int_equal(wndl_search_up_to(keys, sizeof *keys, 5, UINT64_MAX), 5);
}

struct asked {
    size_t border;
    size_t *times;
};

static bool is_below(const void *context, size_t index)
{
    const struct asked *asked = context;
    ++*asked->times;
    return index < asked->border;
}

static void asks_no_more_often_than_it_must(void **state)
{
    (void)state;
    for (size_t border = 0; border <= 1000; border++) {
        size_t times = 0;
        const struct asked asked = {border, &times};
        assert_int_equal(wndl_search(1000, is_below, &asked), border);
        assert_true(times <= 10);
    }
}

static void knows_both_ends_of_text(void **state)
{
    (void)state;
    assert_true(wndl_text_starts_with("libc.so", "lib"));
    assert_true(wndl_text_starts_with("lib", "lib"));
    assert_true(wndl_text_starts_with("lib", ""));
    assert_false(wndl_text_starts_with("li", "lib"));
    assert_false(wndl_text_starts_with("alib", "lib"));
    assert_true(wndl_text_ends_with("a.json", ".json"));
    assert_true(wndl_text_ends_with(".json", ".json"));
    assert_false(wndl_text_ends_with("json", ".json"));
    assert_false(wndl_text_ends_with("a.jsonl", ".json"));
}

static void knows_both_ends_of_bytes(void **state)
{
    (void)state;
    const struct wndl_bytes bytes = {(const uint8_t *)"a\0b", 3};
    const struct wndl_bytes none = {0};
    assert_true(wndl_bytes_start_with(bytes, "a"));
    assert_false(wndl_bytes_start_with(bytes, "ab"));
    assert_false(wndl_bytes_start_with(none, "a"));
    assert_true(wndl_bytes_start_with(none, ""));
    assert_true(wndl_bytes_end_with(bytes, "b"));
    assert_false(wndl_bytes_end_with(bytes, "ab"));
    assert_false(wndl_bytes_end_with(none, "b"));
    assert_true(wndl_bytes_end_with(none, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_border_in_lists_of_any_length),
        cmocka_unit_test(counts_equal_keys_as_one_run),
        cmocka_unit_test(asks_no_more_often_than_it_must),
        cmocka_unit_test(knows_both_ends_of_text),
        cmocka_unit_test(knows_both_ends_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
