/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/time/calltree.h"
#include "named.h"
#include "out/folded.h"

#include <stdio.h>
#include <stdlib.h>

static void assert_folded_time(const char *recipe, const char *names,
    enum wndl_time time, const char *expected)
{
    struct named n;
    named_cook(&n, recipe, names);
    struct wndl_arena arena;
    struct wndl_calltree tree;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    assert_true(
        wndl_calltree_build(&tree, &n.symbolized, WNDL_TREE_FOR_FOLDING, time));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(wndl_folded_write(out, &tree, &n.symbolized.strings,
        n.profile.interval, wndl_mem_libc()));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
    wndl_arena_free(&arena);
    named_free(&n);
}

static void assert_folded(
    const char *recipe, const char *names, const char *expected)
{
    assert_folded_time(recipe, names, WNDL_TIME_CPU, expected);
}

#define START                                                                  \
    "meta 1 1 1 h / app\nprocess 0 1 /usr/bin/app app\n"                       \
    "image /usr/bin/app -\nthread 0 1 app\n"

static const char names[] = "10 main m.c 1\n"
                            "20 f m.c 2\n"
                            "30 g m.h 3 f m.c 4\n"
                            "40 a;b m.c 5\n";

static void stacks_stand_one_a_line_in_order(void **state)
{
    (void)state;
    assert_folded(START "sample 0 2 0 0:10 0:20!\n"
                        "sample 0 1 0 0:10!\n"
                        "sample 0 4 0 0:10 0:30!\n"
                        "sample 0 1 0 0:10 0:20!\n",
        names,
        "app;main 1\n"
        "app;main;f 3\n"
        "app;main;f;g 4\n");
}

static void order_of_the_samples_does_not_matter(void **state)
{
    (void)state;
    const char *expected = "app;f 1\napp;main 1\napp;main;f 1\n";
    assert_folded(START "sample 0 1 0 0:20!\nsample 0 1 0 0:10 0:20!\n"
                        "sample 0 1 0 0:10!\n",
        names, expected);
    assert_folded(START "sample 0 1 0 0:10!\nsample 0 1 0 0:10 0:20!\n"
                        "sample 0 1 0 0:20!\n",
        names, expected);
}

static void separators_in_names_are_replaced(void **state)
{
    (void)state;
    assert_folded(START "sample 0 1 0 0:40!\n", names, "app;a:b 1\n");
    assert_folded("meta 1 1 1 h / app\nprocess 0 1 /bin/x\ty;z x\n"
                  "thread 0 1 x\nsample 0 1 0 -:7!\n",
        "7 f m.c 1\n", "x y:z;f 1\n");
}

static void threads_have_a_frame_when_a_process_has_two(void **state)
{
    (void)state;
    assert_folded(START "thread 0 2 worker\nthread 0 3 worker\n"
                        "sample 0 1 0 0:10!\nsample 1 1 0 0:20!\n"
                        "sample 2 1 0 0:20!\n",
        names,
        "app;app;main 1\n"
        "app;worker;f 2\n");
}

static void processes_of_one_program_are_summed(void **state)
{
    (void)state;
    assert_folded(START "process 1 2 /usr/bin/app app\n"
                        "process 1 3 /bin/other other\n"
                        "thread 1 2 app\nthread 2 3 other\n"
                        "sample 0 1 0 0:10!\nsample 1 1 0 0:10!\n"
                        "sample 2 1 0 0:10!\n",
        names,
        "app;main 2\n"
        "other;main 1\n");
}

static void stacks_that_are_not_whole_are_told_apart(void **state)
{
    (void)state;
    assert_folded(START "sample 0 1 1 0:20!\nsample 0 1 4 0:20!\n"
                        "sample 0 1 7 0:20!\nsample 0 1 2\n",
        names,
        "app;[lost];f 1\n"
        "app;[no stack] 1\n"
        "app;[truncated];f 1\n"
        "app;f 1\n");
}

#define BLOCKED                                                                \
    "meta 1000 1 1 h / app\nprocess 0 1 /usr/bin/app app\n"                    \
    "image /usr/bin/app -\nthread 0 1 app\n"                                   \
    "sample 0 3 0 0:10 0:20!\n"                                                \
    "block 0 1 7400 0 0 0:10 0:20\nblock 0 1 20 0 0 0:10\n"                    \
    "block 0 1 1500 1 0\n"

static void times_are_told_in_sampling_intervals(void **state)
{
    (void)state;
    assert_folded_time(BLOCKED, names, WNDL_TIME_CPU, "app;main;f 3\n");
    /* 20 ns are less than half an interval, but not nothing. */
    assert_folded_time(BLOCKED, names, WNDL_TIME_BLOCKED,
        "app;main 1\n"
        "app;main;f 7\n");
    assert_folded_time(BLOCKED, names, WNDL_TIME_WALL,
        "app;[waiting for a CPU] 2\n"
        "app;main 1\n"
        "app;main;f 10\n");
}

static void unnamed_code_is_told_by_module_and_address(void **state)
{
    (void)state;
    assert_folded(
        START "sample 0 1 0 0:10 0:ff!\n", names, "app;main;app+0xff 1\n");
}

static void stack_of_hundreds_of_frames_comes_out_whole(void **state)
{
    (void)state;
    enum { DEPTH = 400 };
    char recipe[16 * 1024] = START "sample 0 1 0";
    char expected[16 * 1024] = "app";
    for (int i = 0; i < DEPTH; i++) {
        strcat(recipe, i % 2 ? " 0:10" : " 0:20");
        strcat(expected, i % 2 ? ";main" : ";f");
    }
    strcat(recipe, "\n");
    strcat(expected, " 1\n");
    assert_folded(recipe, names, expected);
}

static void no_samples_give_no_lines(void **state)
{
    (void)state;
    assert_folded("meta 1 1 1 h / app\n", names, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_stand_one_a_line_in_order),
        cmocka_unit_test(order_of_the_samples_does_not_matter),
        cmocka_unit_test(separators_in_names_are_replaced),
        cmocka_unit_test(threads_have_a_frame_when_a_process_has_two),
        cmocka_unit_test(processes_of_one_program_are_summed),
        cmocka_unit_test(stacks_that_are_not_whole_are_told_apart),
        cmocka_unit_test(times_are_told_in_sampling_intervals),
        cmocka_unit_test(unnamed_code_is_told_by_module_and_address),
        cmocka_unit_test(stack_of_hundreds_of_frames_comes_out_whole),
        cmocka_unit_test(no_samples_give_no_lines),
    };
    return cmocka_run_group_tests_name("folded", tests, NULL, NULL);
}
