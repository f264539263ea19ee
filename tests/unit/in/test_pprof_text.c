/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"
#include "in/pprof_text.h"

static struct wndl_bytes over(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* As Go's /debug/pprof/heap?debug=1. */
static const char go_heap[] = "heap profile: 2: 96 [5: 240] @ heap/1048576\n"
                              "1: 48 [2: 96] @ 0x4a1b2c 0x4a0f10\n"
                              "#\t0x4a1b2b\tmain.f+0x1b\t\t/src/main.go:12\n"
                              "#\t0x4a0f0f\tmain.main+0x2f\t/src/main.go:20\n"
                              "\n"
                              "1: 48 [3: 144] @ 0x4a1b2c\n"
                              "\n"
                              "# runtime.MemStats\n"
                              "# Alloc = 12\n";

/* As gperftools' heap profiler. */
static const char gperftools[] =
    "heap profile:      3:     1024 [     5:     2048] @ heapprofile\n"
    "     1:      512 [     2:     1024] @ 0x00401100 0x00401200\n"
    "     2:      512 [     3:     1024] @\n"
    "\n"
    "MAPPED_LIBRARIES:\n"
    "00400000-00402000 r-xp 00000000 08:01 12      /usr/bin/app\n";

/* As Go's other profiles, one after the other, and a line that is none. */
static const char go_others[] = "goroutine profile: total 5\n"
                                "4 @ 0x43 0x44\n"
                                "#\t0x43\tmain.g+0x3\t/s.go:4\n"
                                "\n"
                                "1 @ 0x45\n"
                                "--- mutex:\n"
                                "cycles/second=1000\n"
                                "sampling period=1\n"
                                "120 3 @ 0x43\n"
                                "#\t0x43\tsync.(*Mutex).Unlock+0x3\t/m.go:4\n"
                                "this is damage\n";

static void frames_of_go_have_names(void **state)
{
    (void)state;
    static const struct wndl_damage none = {0};
    assert_graph_read(wndl_pprof_text_read, over(go_heap),
        "events: inuse_objects inuse_space alloc_objects alloc_space\n"
        "summary: 2 96 5 240\n"
        "\n"
        "fl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) 0x4a1b2c\n"
        "calls=1 0\n"
        "0 1 48 3 144\n"
        "cfi=(2) /src/main.go\n"
        "cfn=(3) main.main\n"
        "calls=1 0\n"
        "0 1 48 2 96\n"
        "\n"
        "fl=(1)\n"
        "fn=(2)\n"
        "0 1 48 3 144\n"
        "\n"
        "fl=(2)\n"
        "fn=(4) main.f\n"
        "12 1 48 2 96\n"
        "\n"
        "fl=(2)\n"
        "fn=(3)\n"
        "cfi=(2)\n"
        "cfn=(4)\n"
        "calls=1 0\n"
        "20 1 48 2 96\n"
        "\n"
        "totals: 2 96 5 240\n",
        &none);
}

static void addresses_are_named_by_their_mapping(void **state)
{
    (void)state;
    static const struct wndl_damage none = {0};
    assert_graph_read(wndl_pprof_text_read, over(gperftools),
        "events: inuse_objects inuse_space alloc_objects alloc_space\n"
        "summary: 3 1024 5 2048\n"
        "\n"
        "fl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) [no stack]\n"
        "calls=2 0\n"
        "0 2 512 3 1024\n"
        "cob=(1) /usr/bin/app\n"
        "cfi=(1)\n"
        "cfn=(3) app+0x1200\n"
        "calls=1 0\n"
        "0 1 512 2 1024\n"
        "\n"
        "fl=(1)\n"
        "fn=(2)\n"
        "0 2 512 3 1024\n"
        "\n"
        "ob=(1)\n"
        "fl=(1)\n"
        "fn=(4) app+0x1100\n"
        "0 1 512 2 1024\n"
        "\n"
        "fl=(1)\n"
        "fn=(3)\n"
        "cfi=(1)\n"
        "cfn=(4)\n"
        "calls=1 0\n"
        "0 1 512 2 1024\n"
        "\n"
        "totals: 3 1024 5 2048\n",
        &none);
}

static void each_kind_has_its_events(void **state)
{
    (void)state;
    static const struct wndl_damage damage = {1, 11, "no stack of a profile"};
    assert_graph_read(wndl_pprof_text_read, over(go_others),
        "events: goroutine delay contentions\n"
        "summary: 5 120 3\n"
        "\n"
        "fl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) 0x45\n"
        "calls=1 0\n"
        "0 1\n"
        "cfi=(2) /s.go\n"
        "cfn=(3) main.g\n"
        "calls=4 0\n"
        "0 4\n"
        "cfi=(3) /m.go\n"
        "cfn=(4) sync.(*Mutex).Unlock\n"
        "calls=3 0\n"
        "0 0 120 3\n"
        "\n"
        "fl=(1)\n"
        "fn=(2)\n"
        "0 1\n"
        "\n"
        "fl=(2)\n"
        "fn=(3)\n"
        "4 4\n"
        "\n"
        "fl=(3)\n"
        "fn=(4)\n"
        "4 0 120 3\n"
        "\n"
        "totals: 5 120 3\n",
        &damage);
}

static void only_its_first_lines_begin_a_profile(void **state)
{
    (void)state;
    static const char *const others[] = {
        "", "heap profile", "goroutine 1 [running]:", "--- symbol", "1 @ 0x2"};
    assert_true(wndl_pprof_text_is(over(go_heap)));
    assert_true(wndl_pprof_text_is(over("threadcreate profile: total 7")));
    assert_true(wndl_pprof_text_is(over("--- contention:")));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(wndl_pprof_text_is(over(others[i])));
}

static void costs_too_large_to_sum_are_an_error(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    struct wndl_damage damage = {0};
    struct wndl_error err = {0};
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    assert_int_equal(
        wndl_pprof_text_read(&g,
            over("goroutine profile: total 1\n18446744073709551615 @ 0x1\n"
                 "1 @ 0x1\n"),
            &damage, &err),
        WNDL_LIMIT);
    assert_string_equal(
        err.what, "line 3: the sum of its costs does not fit 64 bits");
    wndl_callgraph_free(&g);
}

static void file_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    assert_graph_cut(wndl_pprof_text_read, over(go_heap), 2);
    assert_graph_cut(wndl_pprof_text_read, over(gperftools), 2);
    assert_graph_cut(wndl_pprof_text_read, over(go_others), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_go_have_names),
        cmocka_unit_test(addresses_are_named_by_their_mapping),
        cmocka_unit_test(each_kind_has_its_events),
        cmocka_unit_test(only_its_first_lines_begin_a_profile),
        cmocka_unit_test(costs_too_large_to_sum_are_an_error),
        cmocka_unit_test(file_cut_anywhere_is_read_up_to_there),
    };
    return cmocka_run_group_tests_name("pprof_text", tests, NULL, NULL);
}
