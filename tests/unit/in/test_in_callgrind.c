/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"
#include "in/callgrind.h"

static struct wndl_bytes over(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static const struct wndl_damage none = {0};

/* Instructions, relative positions, inlined code, jumps, two parts. */
static const char golden[] = "# callgrind format\n"
                             "version: 1\n"
                             "creator: callgrind-3.19.0\n"
                             "pid: 7\ncmd: ./app\npart: 1\n"
                             "desc: I1 cache: \n"
                             "positions: instr line\n"
                             "events: Ir Dr\n"
                             "summary: 999 9\n"
                             "ob=(1) /bin/app\n"
                             "fl=(1) a.c\n"
                             "fn=(1) main\n"
                             "0x401000 10 5 1\n"
                             "+4 +2 3\n"
                             "fi=(2) a.h\n"
                             "+4 3 2\n"
                             "fe=(1)\n"
                             "jump=3 +8 *\n"
                             "* 12\n"
                             "cob=(2) /lib/c.so\n"
                             "cfi=(3) c.c\n"
                             "cfn=(2) f\n"
                             "calls=2 0x500000 7\n"
                             "+4 -1 0x10 2\n"
                             "cfn=(3) g\n"
                             "calls=1 +0x20 20\n"
                             "* +3 4\n"
                             "ob=(2)\n"
                             "fl=(3)\n"
                             "fn=(2)\n"
                             "0x500000 7 16 2\n"
                             "part: 2\n"
                             "events: Dr Ir\n"
                             "positions: line\n"
                             "ob=(1)\n"
                             "fl=(1)\n"
                             "fn=(3)\n"
                             "20 0 4\n"
                             "totals: 30 3\n";

static void costs_are_read_as_callgrind_writes_them(void **state)
{
    (void)state;
    assert_graph_read(wndl_callgrind_read, over(golden),
        "events: Ir Dr\n"
        "summary: 30 3\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cob=(1) /bin/app\n"
        "cfi=(2) a.c\n"
        "cfn=(2) main\n"
        "calls=1 0\n"
        "0 30 3\n"
        "\nob=(2) /lib/c.so\n"
        "fl=(3) c.c\n"
        "fn=(3) f\n"
        "7 16 2\n"
        "\nob=(1)\n"
        "fl=(2)\n"
        "fn=(4) g\n"
        "20 4\n"
        "\nfl=(2)\n"
        "fn=(2)\n"
        "10 5 1\n"
        "cob=(2)\n"
        "cfi=(3)\n"
        "cfn=(3)\n"
        "calls=2 7\n"
        "11 16 2\n"
        "12 3\n"
        "cfi=(2)\n"
        "cfn=(4)\n"
        "calls=1 20\n"
        "14 4\n"
        "fi=(4) a.h\n"
        "3 2\n"
        "\ntotals: 30 3\n",
        &none);
}

/* Names as they are, the root, and what some writers leave out. */
static void plain_files_are_read(void **state)
{
    (void)state;
    assert_graph_read(wndl_callgrind_read,
        over("events: N\nfn=[root]\ncfn=a\ncalls=3\n0 9\n\nfl=x y.c\n"
             "fn=a (1)\n12 4\n16 5\nfl=???\nfn=a\ncfi=x y.c\ncfn=a (1)\n"
             "calls=3 10\n0 9\n"),
        "events: N\n"
        "summary: 9\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) a\n"
        "calls=3 0\n"
        "0 9\n"
        "\nfl=(1)\n"
        "fn=(2)\n"
        "cfi=(2) x y.c\n"
        "cfn=(3) a (1)\n"
        "calls=3 10\n"
        "0 9\n"
        "\nfl=(2)\n"
        "fn=(3)\n"
        "12 4\n"
        "16 5\n"
        "\ntotals: 9\n",
        &none);
}

static void lines_that_are_wrong_are_passed_over(void **state)
{
    (void)state;
    static const char *const wrong[] = {"hello", "fn=(7)", "5 4 3", "5 x",
        "+x 4", "0x 4", "cfn=(9)", "99999999999999999999 4",
        "5 18446744073709551616", "- 4"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[128] = "events: N\nfn=a\n7 2\n";
        struct wndl_callgraph g;
        struct wndl_damage damage = {0};
        strcat(text, wrong[i]);
        strcat(text, "\nfn=b\n7 3\n");
        assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
        assert_int_equal(
            wndl_callgrind_read(&g, over(text), &damage, NULL), WNDL_OK);
        assert_int_equal(damage.count, 1);
        assert_int_equal(damage.first, 4);
        assert_true(*wndl_callgraph_costs(&g.through, 0) == 5);
        wndl_callgraph_free(&g);
    }
}

static void costs_of_nothing_are_passed_over(void **state)
{
    (void)state;
    static const struct wndl_damage damage = {2, 2, "costs without a function"};
    assert_graph_read(wndl_callgrind_read,
        over("events: N\n7 2\nfn=a\ncalls=1 2\n3 4\n"),
        "events: N\nsummary: 0\n\nfl=(1) ???\nfn=(1) [root]\n\ntotals: 0\n",
        &damage);
}

static void file_that_tells_no_events_is_refused(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    struct wndl_damage damage = {0};
    struct wndl_error err = {0};
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    assert_int_equal(wndl_callgrind_read(&g, over("fn=a\n7\n"), &damage, &err),
        WNDL_MALFORMED);
    assert_non_null(strstr(err.what, "events:"));
    wndl_callgraph_free(&g);
}

static void file_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    assert_graph_cut(wndl_callgrind_read, over(golden), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_read_as_callgrind_writes_them),
        cmocka_unit_test(plain_files_are_read),
        cmocka_unit_test(lines_that_are_wrong_are_passed_over),
        cmocka_unit_test(costs_of_nothing_are_passed_over),
        cmocka_unit_test(file_that_tells_no_events_is_refused),
        cmocka_unit_test(file_cut_anywhere_is_read_up_to_there),
    };
    return cmocka_run_group_tests_name("in_callgrind", tests, NULL, NULL);
}
