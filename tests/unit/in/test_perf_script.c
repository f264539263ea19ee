/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"
#include "in/perf_script.h"

static struct wndl_bytes over(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static const char golden[] =
    "# captured on a machine\n"
    "app 4711/4712 [001] 12.345678:     250000 cycles:u: \n"
    "\t    55d0c8a2b1 g(int, char (*)(int))+0x1f (/usr/bin/app (deleted))\n"
    "\t    55d0c8a2b0 add (inlined)\n"
    "\t    55d0c8a2b0 f+0x10 (/usr/bin/app)\n"
    "\t  ffffffff8106 [unknown] ([kernel.kallsyms])\n"
    "\t    7f21b4c0d0 main+0x20 (/usr/bin/app)\n"
    "\n"
    "   my app  4712  12.345679: cycles:u: \n"
    "\t    55d0c8a2b0 f+0x11 (/usr/bin/app)\n"
    "\t    7f21b4c0d0 main+0x20 (/usr/bin/app)\n"
    "\t odd\n"
    "\r\n"
    "app 4711 12.345680: 3 instructions: \n"
    "\n"
    "\t    7f21b4c0d0 main+0x20 (/usr/bin/app)\n"
    "app 4711 12.345681: 5 instructions:  55d0c8a2b0 f+0x11 (/usr/bin/app)\n"
    "app 4711 12.345682: 5 instructions:  55d0c8a2b0 f+0x12 (/usr/bin/app)\n"
    "app 4711 12.345683: sched:sched_switch: prev_comm=a b (c) d\n"
    "\t    7f21b4c0d0 __schedule+0x20 ([kernel.kallsyms])";

static void samples_are_read_with_their_periods(void **state)
{
    (void)state;
    static const struct wndl_damage damage = {2, 12, "no frame"};
    assert_graph_read(wndl_perf_script_read, over(golden),
        "events: Samples cycles_u instructions sched_sched_switch\n"
        "summary: 6 250001 13 1\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) [no stack]\n"
        "calls=1 0\n"
        "0 1 0 3\n"
        "cob=(1) [kernel.kallsyms]\n"
        "cfi=(1)\n"
        "cfn=(3) __schedule\n"
        "calls=1 0\n"
        "0 1 0 0 1\n"
        "cob=(2) /usr/bin/app\n"
        "cfi=(1)\n"
        "cfn=(4) f\n"
        "calls=2 0\n"
        "0 2 0 10\n"
        "cob=(2)\n"
        "cfi=(1)\n"
        "cfn=(5) main\n"
        "calls=2 0\n"
        "0 2 250001\n"
        "\nfl=(1)\n"
        "fn=(2)\n"
        "0 1 0 3\n"
        "\nob=(1)\n"
        "fl=(1)\n"
        "fn=(6) [unknown]\n"
        "cob=(2)\n"
        "cfi=(1)\n"
        "cfn=(4)\n"
        "calls=1 0\n"
        "0 1 250000\n"
        "\nfl=(1)\n"
        "fn=(3)\n"
        "0 1 0 0 1\n"
        "\nob=(2)\n"
        "fl=(1)\n"
        "fn=(7) add\n"
        "cfi=(1)\n"
        "cfn=(8) g(int, char (*)(int))\n"
        "calls=1 0\n"
        "0 1 250000\n"
        "\nfl=(1)\n"
        "fn=(4)\n"
        "0 3 1 10\n"
        "cfi=(1)\n"
        "cfn=(7)\n"
        "calls=1 0\n"
        "0 1 250000\n"
        "\nfl=(1)\n"
        "fn=(8)\n"
        "0 1 250000\n"
        "\nfl=(1)\n"
        "fn=(5)\n"
        "cob=(1)\n"
        "cfi=(1)\n"
        "cfn=(6)\n"
        "calls=1 0\n"
        "0 1 250000\n"
        "cfi=(1)\n"
        "cfn=(4)\n"
        "calls=1 0\n"
        "0 1 1\n"
        "\ntotals: 6 250001 13 1\n",
        &damage);
}

static void text_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    assert_graph_cut(wndl_perf_script_read, over(golden), 3);
}

static void only_samples_are_taken_for_samples(void **state)
{
    (void)state;
    static const char *const samples[] = {
        "a 1 2.3: e:", " a b 1/2 [0] 0.1: 7 e: x"};
    static const char *const others[] = {"a 1 2.3: 7",
        "a 1 2.3:", "a 1 2: e:", "a 1 2.: e:", "a 1 .3: e:", "a 1 2.3 e:", "",
        "a 1 2.3: :", "==1==    at 0x1: f"};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        assert_true(wndl_perf_script_is(over(samples[i])));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(wndl_perf_script_is(over(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_read_with_their_periods),
        cmocka_unit_test(text_cut_anywhere_is_read_up_to_there),
        cmocka_unit_test(only_samples_are_taken_for_samples),
    };
    return cmocka_run_group_tests_name("perf_script", tests, NULL, NULL);
}
