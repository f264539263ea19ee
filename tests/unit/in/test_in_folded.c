/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"
#include "in/folded.h"

static struct wndl_bytes over(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static const char golden[] = "main;f(int, char) [x];g 3\r\n"
                             "main 18446744073709551000\n"
                             "\n"
                             "no number\n"
                             "main;g 99999999999999999999\n"
                             " 4\n"
                             ";;h 2";

static void stacks_are_read_a_line_each(void **state)
{
    (void)state;
    static const struct wndl_damage damage = {3, 4, "no stack and a number"};
    assert_graph_read(wndl_folded_read, over(golden),
        "events: Samples\n"
        "summary: 18446744073709551005\n"
        "\nfl=(1) ???\nfn=(1) [root]\n"
        "cfi=(1)\ncfn=(2) ???\ncalls=2 0\n0 2\n"
        "cfi=(1)\ncfn=(3) main\ncalls=18446744073709551003 0\n"
        "0 18446744073709551003\n"
        "\nfl=(1)\nfn=(2)\n"
        "cfi=(1)\ncfn=(2)\ncalls=2 0\n0 2\n"
        "cfi=(1)\ncfn=(4) h\ncalls=2 0\n0 2\n"
        "\nfl=(1)\nfn=(5) f(int, char) [x]\n"
        "cfi=(1)\ncfn=(6) g\ncalls=3 0\n0 3\n"
        "\nfl=(1)\nfn=(6)\n0 3\n"
        "\nfl=(1)\nfn=(4)\n0 2\n"
        "\nfl=(1)\nfn=(3)\n0 18446744073709551000\n"
        "cfi=(1)\ncfn=(5)\ncalls=3 0\n0 3\n"
        "\ntotals: 18446744073709551005\n",
        &damage);
}

/* Flame graph tools write such counts; 0.0004 of a sample is none. */
static void broken_counts_are_in_thousandths(void **state)
{
    (void)state;
    static const struct wndl_damage damage = {3, 4, "no stack and a number"};
    assert_graph_read(wndl_folded_read,
        over("f 1.5\nf 2\ng 0.0005\nf 1.x\nf .5\nf 99999999999999999999.5\n"
             "g 0.0004\n"),
        "events: mSamples\n"
        "summary: 3501\n"
        "\nfl=(1) ???\nfn=(1) [root]\n"
        "cfi=(1)\ncfn=(2) f\ncalls=4 0\n0 3500\n"
        "cfi=(1)\ncfn=(3) g\ncalls=1 0\n0 1\n"
        "\nfl=(1)\nfn=(2)\n0 3500\n"
        "\nfl=(1)\nfn=(3)\n0 1\n"
        "\ntotals: 3501\n",
        &damage);
    assert_true(wndl_folded_is(over("f 1.5")));
    assert_graph_cut(wndl_folded_read, over("f 1.5\ng 0.25\n"), 1);
}

static void costs_too_large_to_sum_are_told_of(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    struct wndl_damage damage = {0};
    struct wndl_error err = {0};
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    assert_int_equal(
        wndl_folded_read(
            &g, over("a 18446744073709551615\n\nb 1\n"), &damage, &err),
        WNDL_LIMIT);
    assert_string_equal(
        err.what, "line 3: the sum of its costs does not fit 64 bits");
    wndl_callgraph_free(&g);
}

static void file_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    assert_graph_cut(wndl_folded_read, over(golden), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_read_a_line_each),
        cmocka_unit_test(broken_counts_are_in_thousandths),
        cmocka_unit_test(costs_too_large_to_sum_are_told_of),
        cmocka_unit_test(file_cut_anywhere_is_read_up_to_there),
    };
    return cmocka_run_group_tests_name("in_folded", tests, NULL, NULL);
}
