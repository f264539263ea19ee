/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "in/perf_map.h"

static struct wndl_perf_map over(const char *text)
{
    return wndl_perf_map_of(
        (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

static const char golden[] = "37cf9e50a7fe 36 JS:~ /tmp/a b/fib.js:1:1\n"
                             "18C4000 300 Builtin:DeoptimizationEntry_Eager\n"
                             "0x7fbb7c005b80 0x100 JS:^fib /tmp/fib.js:2:13\r\n"
                             "\n"
                             "7fbb7c006500\t16c  py::f:/x.py";

static void lines_come_from_the_last_to_the_first(void **state)
{
    (void)state;
    static const struct {
        uint64_t start, size;
        const char *name;
    } expected[] = {
        {0x7fbb7c006500, 0x16c, "py::f:/x.py"},
        {0x7fbb7c005b80, 0x100, "JS:^fib /tmp/fib.js:2:13"},
        {0x18c4000, 0x300, "Builtin:DeoptimizationEntry_Eager"},
        {0x37cf9e50a7fe, 0x36, "JS:~ /tmp/a b/fib.js:1:1"},
    };
    struct wndl_perf_map map = over(golden);
    struct wndl_perf_map_line line;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(wndl_perf_map_previous(&map, &line));
        assert_true(line.start == expected[i].start);
        assert_true(line.size == expected[i].size);
        assert_true(wndl_bytes_is(line.name, expected[i].name));
    }
    assert_false(wndl_perf_map_previous(&map, &line));
    assert_int_equal(map.damaged, 0);
}

static void what_is_no_line_is_counted_and_passed_over(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "hello",
        "1000",
        "1000 20",
        "1000 20 ",
        "1000 2g name",
        "-1000 20 name",
        "0x 20 name",
        "10000000000000000 20 name",
        "ffffffffffffffff 20 name",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[64] = "10 8 a\n";
        strcat(text, wrong[i]);
        strcat(text, "\n18 8 b\n");
        struct wndl_perf_map map = over(text);
        struct wndl_perf_map_line line;
        assert_true(wndl_perf_map_previous(&map, &line));
        assert_true(wndl_bytes_is(line.name, "b"));
        assert_true(wndl_perf_map_previous(&map, &line));
        assert_true(wndl_bytes_is(line.name, "a"));
        assert_false(wndl_perf_map_previous(&map, &line));
        assert_int_equal(map.damaged, 1);
    }
}

static void parse(struct wndl_bytes prefix, void *context)
{
    size_t *most = context;
    struct wndl_perf_map map = wndl_perf_map_of(prefix);
    struct wndl_perf_map_line line;
    size_t lines = 0;
    for (; wndl_perf_map_previous(&map, &line); lines++)
        assert_in_range(line.name.size, 1, prefix.size);
    /* A cut harms the line in which it is, nothing else. */
    assert_true(map.damaged <= 1 && lines + map.damaged >= *most);
    *most = lines;
}

static void a_map_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    size_t most = 0;
    for_each_truncation(
        (struct wndl_bytes){(const uint8_t *)golden, sizeof golden - 1}, parse,
        &most);
    assert_int_equal(most, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_from_the_last_to_the_first),
        cmocka_unit_test(what_is_no_line_is_counted_and_passed_over),
        cmocka_unit_test(a_map_cut_anywhere_is_read_up_to_there),
    };
    return cmocka_run_group_tests_name("perf_map", tests, NULL, NULL);
}
