/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/callgraph/callgraph.h"
#include "named.h"
#include "out/callgrind.h"

#include <stdio.h>
#include <stdlib.h>

#define START                                                                  \
    "meta 1 1 1 h / app\nprocess 0 1 /usr/bin/app app\n"                       \
    "image /usr/bin/app -\nthread 0 1 app\n"

static const char names[] = "10 main m.c 1\n"
                            "11 main m.c 2\n"
                            "20 f m.c 20\n"
                            "30 g m.h 3 f m.c 24\n"
                            "40 odd m.c 40\n"
                            "50 even m.c 50\n";

/* What is written of a graph, to be freed. */
static char *text_of(const struct wndl_callgraph *g)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    static const struct wndl_bytes command = {(const uint8_t *)"app\nx", 5};
    assert_true(wndl_callgrind_write(out, g, command, wndl_mem_libc()));
    assert_int_equal(fclose(out), 0);
    return text;
}

/* From the first line after the events on. */
static void assert_graph(const struct wndl_callgraph *g, const char *expected)
{
    char *text = text_of(g);
    char *at = strstr(text, "\nsummary:");
    assert_non_null(at);
    assert_non_null(strstr(text, "\ncmd: app x\n"));
    assert_string_equal(at + 1, expected);
    free(text);
}

static void assert_written(const char *recipe, bool collapse,
    enum wndl_time time, const char *expected)
{
    struct named n;
    struct wndl_callgraph g;
    named_cook(&n, recipe, names);
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    assert_int_equal(wndl_callgraph_add_time(&g, &n.symbolized, time), WNDL_OK);
    assert_true(wndl_callgraph_finish(&g, collapse));
    assert_graph(&g, expected);
    wndl_callgraph_free(&g);
    named_free(&n);
}

static const char mixed[] = START "sample 0 2 0 0:10 0:20!\n"
                                  "sample 0 1 0 0:11 0:30!\n"
                                  "sample 0 3 0 0:10 0:30 0:30!\n"
                                  "sample 0 1 1 0:20!\n"
                                  "sample 0 1 2\n";

static void calls_have_the_lines_they_are_made_from(void **state)
{
    (void)state;
    assert_written(mixed, true, WNDL_TIME_CPU,
        "summary: 8 8\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) [no stack]\n"
        "calls=1 0\n"
        "0 1 1\n"
        "cfi=(1)\n"
        "cfn=(3) [truncated]\n"
        "calls=1 0\n"
        "0 1 1\n"
        "cob=(1) /usr/bin/app\n"
        "cfi=(2) m.c\n"
        "cfn=(4) main\n"
        "calls=6 0\n"
        "0 6 6\n"
        "\nfl=(1)\n"
        "fn=(2)\n"
        "0 1 1\n"
        "\nfl=(1)\n"
        "fn=(3)\n"
        "cfi=(1)\n"
        "cfn=(5) <cycle 1: f, g>\n"
        "calls=1 0\n"
        "0 1 1\n"
        "\nob=(1)\n"
        "fl=(2)\n"
        "fn=(6) f\n"
        "20 3 3\n"
        "cfi=(3) m.h\n"
        "cfn=(7) g\n"
        "calls=4 0\n"
        "24 0\n"
        "\nfl=(3)\n"
        "fn=(7)\n"
        "3 4 4\n"
        "cfi=(2)\n"
        "cfn=(6)\n"
        "calls=3 20\n"
        "3 0\n"
        "\nfl=(2)\n"
        "fn=(4)\n"
        "cob=(2) ???\n"
        "cfi=(1)\n"
        "cfn=(5)\n"
        "calls=5 0\n"
        "1 5 5\n"
        "cob=(2)\n"
        "cfi=(1)\n"
        "cfn=(5)\n"
        "calls=1 0\n"
        "2 1 1\n"
        "\nob=(2)\n"
        "fl=(1)\n"
        "fn=(5)\n"
        "# stacks with f: 7 7\n"
        "cob=(1)\n"
        "cfi=(2)\n"
        "cfn=(6)\n"
        "calls=10 20\n"
        "0 3 3\n"
        "# stacks with g: 4 4\n"
        "cob=(1)\n"
        "cfi=(3)\n"
        "cfn=(7)\n"
        "calls=4 0\n"
        "0 4 4\n"
        "\ntotals: 8 8\n");
}

static void cycles_can_be_kept(void **state)
{
    (void)state;
    assert_written(mixed, false, WNDL_TIME_CPU,
        "summary: 8 8\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) [no stack]\n"
        "calls=1 0\n"
        "0 1 1\n"
        "cfi=(1)\n"
        "cfn=(3) [truncated]\n"
        "calls=1 0\n"
        "0 1 1\n"
        "cob=(1) /usr/bin/app\n"
        "cfi=(2) m.c\n"
        "cfn=(4) main\n"
        "calls=6 0\n"
        "0 6 6\n"
        "\nfl=(1)\n"
        "fn=(2)\n"
        "0 1 1\n"
        "\nfl=(1)\n"
        "fn=(3)\n"
        "cob=(1)\n"
        "cfi=(2)\n"
        "cfn=(5) f\n"
        "calls=1 20\n"
        "0 1 1\n"
        "\nob=(1)\n"
        "fl=(2)\n"
        "fn=(5)\n"
        "20 3 3\n"
        "cfi=(3) m.h\n"
        "cfn=(6) g\n"
        "calls=4 0\n"
        "24 4 4\n"
        "\nfl=(3)\n"
        "fn=(6)\n"
        "3 4 4\n"
        "cfi=(2)\n"
        "cfn=(5)\n"
        "calls=3 20\n"
        "3 3 3\n"
        "\nfl=(2)\n"
        "fn=(4)\n"
        "cfi=(2)\n"
        "cfn=(5)\n"
        "calls=5 20\n"
        "1 5 5\n"
        "cfi=(2)\n"
        "cfn=(5)\n"
        "calls=1 20\n"
        "2 1 1\n"
        "\ntotals: 8 8\n");
}

static void times_of_each_kind_are_apart(void **state)
{
    (void)state;
    assert_written("meta 1000 1 1 h / app\nprocess 0 1 /usr/bin/app app\n"
                   "image /usr/bin/app -\nthread 0 1 app\n"
                   "sample 0 3 0 0:10 0:20!\n"
                   "block 0 1 7400 0 0 0:10 0:20\nblock 0 1 1500 1 0\n",
        true, WNDL_TIME_WALL,
        "summary: 3000 7400 1500 5\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cfi=(1)\n"
        "cfn=(2) [waiting for a CPU]\n"
        "calls=1 0\n"
        "0 0 0 1500 1\n"
        "cob=(1) /usr/bin/app\n"
        "cfi=(2) m.c\n"
        "cfn=(3) main\n"
        "calls=4 0\n"
        "0 3000 7400 0 4\n"
        "\nfl=(1)\n"
        "fn=(2)\n"
        "0 0 0 1500 1\n"
        "\nob=(1)\n"
        "fl=(2)\n"
        "fn=(4) f\n"
        "20 3000 7400 0 4\n"
        "\nfl=(2)\n"
        "fn=(3)\n"
        "cfi=(2)\n"
        "cfn=(4)\n"
        "calls=4 20\n"
        "1 3000 7400 0 4\n"
        "\ntotals: 3000 7400 1500 5\n");
}

static void function_that_calls_itself_is_counted_once(void **state)
{
    (void)state;
    assert_written(START "sample 0 5 0 0:10 0:20 0:20 0:20!\n", true,
        WNDL_TIME_CPU,
        "summary: 5 5\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cob=(1) /usr/bin/app\n"
        "cfi=(2) m.c\n"
        "cfn=(2) main\n"
        "calls=5 0\n"
        "0 5 5\n"
        "\nob=(1)\n"
        "fl=(2)\n"
        "fn=(3) f\n"
        "20 5 5\n"
        "cfi=(2)\n"
        "cfn=(3)\n"
        "calls=5 20\n"
        "20 0\n"
        "\nfl=(2)\n"
        "fn=(2)\n"
        "cfi=(2)\n"
        "cfn=(3)\n"
        "calls=5 20\n"
        "1 5 5\n"
        "\ntotals: 5 5\n");
}

/* ---- graphs that are made by hand */

static uint32_t place_of(struct wndl_callgraph *g, const char *name)
{
    struct wndl_callgraph_function f = {.line = 7};
    struct wndl_callgraph_place p = {.line = 1};
    uint32_t index;
    assert_true(wndl_callgraph_text(g, name, &f.name));
    assert_true(wndl_callgraph_function(g, f, &p.function));
    assert_true(wndl_callgraph_place(g, p, &index));
    return index;
}

static void add_event(struct wndl_callgraph *g, const char *name)
{
    uint32_t index;
    assert_int_equal(
        wndl_callgraph_event(g,
            (struct wndl_bytes){(const uint8_t *)name, strlen(name)}, NULL,
            &index),
        WNDL_OK);
}

static void make(struct wndl_callgraph *g)
{
    assert_true(wndl_callgraph_init(g, wndl_mem_libc()));
    add_event(g, "N");
}

static uint32_t letter(struct wndl_callgraph *g, int name)
{
    char text[2] = {(char)name, '\0'};
    return place_of(g, text);
}

/* A stack of functions called by one letter. */
static enum wndl_status add_stack(
    struct wndl_callgraph *g, const char *stack, const uint64_t *costs)
{
    uint32_t places[64];
    size_t count = strlen(stack);
    for (size_t i = 0; i < count; i++)
        places[i] = letter(g, stack[i]);
    const struct wndl_callgraph_stack s = {places, count, costs, 1};
    return wndl_callgraph_add_stack(g, &s);
}

static void functions_of_one_name_have_their_own_numbers(void **state)
{
    (void)state;
    assert_written(START "image /usr/lib/b.so -\n"
                         "sample 0 2 0 0:20!\nsample 0 1 0 1:20!\n",
        true, WNDL_TIME_CPU,
        "summary: 3 3\n"
        "\nfl=(1) ???\n"
        "fn=(1) [root]\n"
        "cob=(1) /usr/bin/app\n"
        "cfi=(2) m.c\n"
        "cfn=(2) f\n"
        "calls=2 20\n"
        "0 2 2\n"
        "cob=(2) /usr/lib/b.so\n"
        "cfi=(2)\n"
        "cfn=(3) f\n"
        "calls=1 20\n"
        "0 1 1\n"
        "\nob=(1)\n"
        "fl=(2)\n"
        "fn=(2)\n"
        "20 2 2\n"
        "\nob=(2)\n"
        "fl=(2)\n"
        "fn=(3)\n"
        "20 1 1\n"
        "\ntotals: 3 3\n");
}

static void costs_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    uint64_t most = UINT64_MAX, one = 1;
    make(&g);
    assert_int_equal(add_stack(&g, "ab", &most), WNDL_OK);
    assert_int_equal(add_stack(&g, "cd", &one), WNDL_LIMIT);
    wndl_callgraph_free(&g);
}

static void events_may_come_later_and_are_limited(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {3, 0, 0, 0, 0, 9};
    make(&g);
    assert_int_equal(add_stack(&g, "ab", costs), WNDL_OK);
    for (int i = 1; i < WNDL_CALLGRAPH_EVENTS; i++) {
        char name[] = {'-', (char)('a' + i % 26), (char)('0' + i / 26), 0};
        add_event(&g, name);
    }
    uint32_t index;
    assert_int_equal(
        wndl_callgraph_event(&g, (struct wndl_bytes){0}, NULL, &index),
        WNDL_LIMIT);
    assert_int_equal(add_stack(&g, "ac", costs), WNDL_OK);
    assert_true(wndl_callgraph_finish(&g, true));
    assert_graph(&g,
        "summary: 6 0 0 0 0 9\n"
        "\nfl=(1) ???\nfn=(1) [root]\ncfi=(1)\ncfn=(2) a\ncalls=2 7\n"
        "0 6 0 0 0 0 9\n"
        "\nfl=(1)\nfn=(2)\ncfi=(1)\ncfn=(3) b\ncalls=1 7\n1 3\n"
        "cfi=(1)\ncfn=(4) c\ncalls=1 7\n1 3 0 0 0 0 9\n"
        "\nfl=(1)\nfn=(3)\n1 3\n"
        "\nfl=(1)\nfn=(4)\n1 3 0 0 0 0 9\n"
        "\ntotals: 6 0 0 0 0 9\n");
    wndl_callgraph_free(&g);
}

/* As deep as no C stack is. */
static void cycle_of_very_many_functions_is_found(void **state)
{
    (void)state;
    enum { DEPTH = 300000 };
    struct wndl_callgraph g;
    uint32_t *places = calloc(DEPTH, sizeof *places);
    assert_non_null(places);
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    add_event(&g, "N");
    for (int i = 0; i < DEPTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i % (DEPTH - 1));
        places[i] = place_of(&g, name);
    }
    uint64_t cost = 5;
    const struct wndl_callgraph_stack s = {places, DEPTH, &cost, 1};
    assert_int_equal(wndl_callgraph_add_stack(&g, &s), WNDL_OK);
    assert_true(wndl_callgraph_finish(&g, true));
    assert_int_equal(g.cycles.len, 1);
    const struct wndl_callgraph_cycle *cycle = wndl_vec_at(&g.cycles, 0);
    assert_int_equal(cycle->count, DEPTH - 1);
    assert_string_equal(wndl_intern_text(&g.strings, cycle->name),
        "<cycle 1: f0, f1, f10 and 299996 more>");
    char *text = text_of(&g);
    assert_non_null(strstr(text, "cfn=(2) <cycle 1: f0, f1, f10 and 299996 "
                                 "more>\ncalls=1 0\n0 5\n"));
    free(text);
    wndl_callgraph_free(&g);
    free(places);
}

static void names_cannot_be_taken_for_anything_else(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    uint64_t cost = 2;
    make(&g);
    uint32_t places[] = {place_of(&g, " (1) x\nfn=(9) y\r\x1b[0m\xff\xc3\xa9"),
        place_of(&g, " \t")};
    const struct wndl_callgraph_stack s = {places, 2, &cost, 1};
    assert_int_equal(wndl_callgraph_add_stack(&g, &s), WNDL_OK);
    assert_true(wndl_callgraph_finish(&g, true));
    assert_graph(&g, "summary: 2\n"
                     "\nfl=(1) ???\nfn=(1) [root]\ncfi=(1)\n"
                     "cfn=(2) (1) x fn=(9) y  [0m\xef\xbf\xbd\xc3\xa9\n"
                     "calls=1 7\n0 2\n"
                     "\nfl=(1)\nfn=(3) ???\n1 2\n"
                     "\nfl=(1)\nfn=(2)\ncfi=(1)\ncfn=(3)\ncalls=1 7\n1 2\n"
                     "\ntotals: 2\n");
    wndl_callgraph_free(&g);
}

/* b is called by a alone, but more was spent in it; c calls itself. */
static void calls_from_elsewhere_are_completed_from_the_root(void **state)
{
    (void)state;
    struct wndl_callgraph g;
    make(&g);
    static const struct {
        int from, to;
        uint64_t cost;
    } calls[] = {{'a', 'b', 3}, {'b', 'c', 6}, {'c', 'c', 5}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct wndl_callgraph_call call = {
            .place = letter(&g, calls[i].from),
            .callee =
                wndl_callgraph_place_at(&g, letter(&g, calls[i].to))->function,
            .count = 2,
        };
        assert_int_equal(
            wndl_callgraph_add_call(&g, &call, &calls[i].cost), WNDL_OK);
    }
    uint64_t self[] = {1, 4, 6};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            wndl_callgraph_add_self(&g, letter(&g, 'a' + i), &self[i]),
            WNDL_OK);
    assert_true(wndl_callgraph_finish(&g, true));
    assert_graph(&g,
        "summary: 11\n"
        "\nfl=(1) ???\nfn=(1) [root]\n"
        "cfi=(1)\ncfn=(2) a\ncalls=1 7\n0 4\n"
        "cfi=(1)\ncfn=(3) b\ncalls=1 7\n0 7\n"
        "\nfl=(1)\nfn=(2)\n1 1\ncfi=(1)\ncfn=(3)\ncalls=2 7\n1 3\n"
        "\nfl=(1)\nfn=(3)\n1 4\ncfi=(1)\ncfn=(4) c\ncalls=2 7\n1 6\n"
        "\nfl=(1)\nfn=(4)\n1 6\ncfi=(1)\ncfn=(4)\ncalls=2 7\n1 0\n"
        "\ntotals: 11\n");
    wndl_callgraph_free(&g);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct named n;
    named_cook(&n, mixed, names);
    bool done = false;
    for (long budget = 0; !done; budget++) {
        struct failing_mem mem;
        struct wndl_callgraph g;
        failing_mem_init(&mem, budget);
        if (wndl_callgraph_init(&g, &mem.mem)) {
            enum wndl_status status =
                wndl_callgraph_add_time(&g, &n.symbolized, WNDL_TIME_CPU);
            assert_true(status == WNDL_OK || status == WNDL_NOMEM);
            done = status == WNDL_OK && wndl_callgraph_finish(&g, true);
            wndl_callgraph_free(&g);
        }
        assert_int_equal(mem.live, 0);
    }
    named_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_the_lines_they_are_made_from),
        cmocka_unit_test(cycles_can_be_kept),
        cmocka_unit_test(times_of_each_kind_are_apart),
        cmocka_unit_test(function_that_calls_itself_is_counted_once),
        cmocka_unit_test(functions_of_one_name_have_their_own_numbers),
        cmocka_unit_test(costs_that_do_not_fit_are_refused),
        cmocka_unit_test(events_may_come_later_and_are_limited),
        cmocka_unit_test(cycle_of_very_many_functions_is_found),
        cmocka_unit_test(names_cannot_be_taken_for_anything_else),
        cmocka_unit_test(calls_from_elsewhere_are_completed_from_the_root),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests_name("callgraph", tests, NULL, NULL);
}
