/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"
#include "in/valgrind_text.h"

static struct wndl_bytes over(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* Four frames are as many as any stack has. */
static const char golden[] =
    "==12== Memcheck, a memory error detector\n"
    "==12==    by 0x1086: lonely (x.c:5)\n"
    "==12== Invalid read of size 4\n"
    "==12==    at 0x10866D: f(int, char*) const (x (1).c:5)\n"
    "==12==    by 0x10867D: operator() (x.c:9)\n"
    "==12==    by 0x10868D: ??? (in /tmp/a (b)/x.so)\n"
    "==12==    by 0x10869D: (below main) (in /lib/libc.so.6)\n"
    "==12==  Address 0x4 is not stack'd\r\n"
    "==00:00:00:01.234 12==    at 0x1: g(int)\n"
    "==00:00:00:01.234 12==    by 0x2: deep (y.c:8)\n"
    "==00:00:00:01.234 12==    by 0x3: deep (y.c:7)\n"
    "==00:00:00:01.234 12==    by 0x4: deep (y.c:8)\n"
    "    at 0x10: h\n"
    "    at 0x1x: no frame\n"
    "    at 0x10: h";

static void stacks_are_read_with_their_lines(void **state)
{
    (void)state;
    static const struct wndl_damage damage = {
        1, 2, "a stack without its start"};
    assert_graph_read(wndl_valgrind_text_read, over(golden),
        "events: Stacks\n"
        "summary: 4\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cob=(1) /lib/libc.so.6\n"
        "cfi=(1)\n"
        "cfn=(2) (below main)\n"
        "calls=1 0\n"
        "0 1\n"
        "cfi=(1)\n"
        "cfn=(3) [truncated]\n"
        "calls=1 0\n"
        "0 1\n"
        "cfi=(1)\n"
        "cfn=(4) h\n"
        "calls=2 0\n"
        "0 2\n"
        "\nob=(1)\n"
        "fl=(1)\n"
        "fn=(2)\n"
        "cob=(2) /tmp/a (b)/x.so\n"
        "cfi=(1)\n"
        "cfn=(5) 0x10868D\n"
        "calls=1 0\n"
        "0 1\n"
        "\nob=(2)\n"
        "fl=(1)\n"
        "fn=(5)\n"
        "cob=(3) ???\n"
        "cfi=(2) x.c\n"
        "cfn=(6) operator()\n"
        "calls=1 0\n"
        "0 1\n"
        "\nob=(3)\n"
        "fl=(1)\n"
        "fn=(3)\n"
        "cfi=(3) y.c\n"
        "cfn=(7) deep\n"
        "calls=1 0\n"
        "0 1\n"
        "\nfl=(3)\n"
        "fn=(7)\n"
        "cfi=(3)\n"
        "cfn=(7)\n"
        "calls=1 0\n"
        "8 1\n"
        "cfi=(1)\n"
        "cfn=(8) g(int)\n"
        "calls=1 0\n"
        "8 1\n"
        "\nfl=(4) x (1).c\n"
        "fn=(9) f(int, char*) const\n"
        "5 1\n"
        "\nfl=(1)\n"
        "fn=(8)\n"
        "0 1\n"
        "\nfl=(1)\n"
        "fn=(4)\n"
        "0 2\n"
        "\nfl=(2)\n"
        "fn=(6)\n"
        "cfi=(4)\n"
        "cfn=(9)\n"
        "calls=1 0\n"
        "9 1\n"
        "\ntotals: 4\n",
        &damage);
}

static void text_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    assert_graph_cut(wndl_valgrind_text_read, over(golden), 1);
}

static void only_frames_are_taken_for_frames(void **state)
{
    (void)state;
    static const char *const frames[] = {"at 0x1: f", "\tby 0xFf: ???",
        "==1==    at 0x1: f (x.c:1)", "--1-- at 0x1: f"};
    static const char *const others[] = {"at 0x: f", "at 1: f",
        "at 0x1: ", "at 0x1:f", "look at 0x1: f", "==1 at 0x1: f", "",
        "==", "===="};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        assert_true(wndl_valgrind_text_is(over(frames[i])));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(wndl_valgrind_text_is(over(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_read_with_their_lines),
        cmocka_unit_test(text_cut_anywhere_is_read_up_to_there),
        cmocka_unit_test(only_frames_are_taken_for_frames),
    };
    return cmocka_run_group_tests_name("valgrind_text", tests, NULL, NULL);
}
