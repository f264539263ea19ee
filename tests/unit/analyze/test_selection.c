/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/time/calltree.h"
#include "analyze/time/collapsed.h"
#include "analyze/time/report_fill.h"
#include "analyze/time/selection.h"
#include "analyze/time/turned.h"
#include "named.h"

#include <stdio.h>
#include <string.h>

/* main calls f, which calls itself and has g inlined, which has h inlined. */
static const char recipe[] = "meta 1000 1 1 h / app\n"
                             "process 0 7 /bin/app app\n"
                             "process 0 8 /bin/kid kid\n"
                             "image /bin/app -\n"
                             "image /lib/libx.so -\n"
                             "thread 0 7 app\n"
                             "thread 0 9 worker\n"
                             "thread 1 8 kid\n"
                             "sample 0 5 0 0:10 0:20!\n"
                             "sample 0 3 0 0:10 0:20 0:20 0:20!\n"
                             "sample 1 2 0 0:10 0:20 0:30!\n"
                             "sample 1 4 2 0:20 1:40!\n"
                             "sample 2 1 0 0:10 0:30 1:40!\n"
                             "sample 0 1 2\n"
                             "block 0 1 10000 0 0 0:10 0:20\n"
                             "mark 0 500 0 a_mark\n"
                             "ended 1 77\n"
                             "done 0 0\n";

static const char names[] = "10 main main.c 12\n"
                            "20 f main.c 25\n"
                            "30 h main.h 50 g main.h 33 f main.c 27\n";

static void select_in(struct named *n, const struct wndl_selection *selection)
{
    named_cook(n, recipe, names);
    assert_true(wndl_select(&n->profile, &n->symbolized, selection));
    assert_true(n->profile.is_selected);
    assert_int_equal(n->profile.unselected.samples, 16);
}

static void assert_left(struct named *n, size_t samples, size_t blocks)
{
    assert_int_equal(n->profile.samples.len, samples);
    assert_int_equal(n->profile.blocks.len, blocks);
    uint64_t ends = 0;
    for (size_t i = 0; i < WNDL_WALK_ENDS; i++)
        ends += n->profile.ends[i];
    assert_int_equal(ends, samples);
    named_free(n);
}

static void processes_and_threads(void **state)
{
    (void)state;
    struct named n;
    select_in(&n, &(struct wndl_selection){.process = 8});
    assert_left(&n, 1, 0);
    select_in(&n, &(struct wndl_selection){.threads = "WORK"});
    const struct wndl_thread *thread = wndl_vec_at(&n.profile.threads, 1);
    assert_int_equal(thread->unsampled_cpu, 77);
    assert_int_equal(n.profile.marks.len, 0);
    assert_left(&n, 6, 0);
    select_in(&n, &(struct wndl_selection){.threads = "main"});
    thread = wndl_vec_at(&n.profile.threads, 1);
    assert_int_equal(thread->unsampled_cpu, 0);
    assert_left(&n, 10, 1);
}

static void times_are_half_open_and_cut_blocks(void **state)
{
    (void)state;
    struct named n;
    /* Samples end at 1000, 2000, ... ns; the block follows them. */
    const struct wndl_interval times[] = {{0, 2000}, {3000, 3001}};
    select_in(&n, &(struct wndl_selection){.times = times, .time_count = 2});
    assert_left(&n, 2, 0);
    named_cook(&n, recipe, names);
    const struct wndl_block block =
        *(const struct wndl_block *)wndl_vec_at(&n.profile.blocks, 0);
    const struct wndl_mark mark =
        *(const struct wndl_mark *)wndl_vec_at(&n.profile.marks, 0);
    named_free(&n);
    const struct wndl_interval parts[] = {
        {block.start + 100, block.start + 150},
        {block.start + 200, block.start + 201},
        {mark.time + mark.duration - 1, mark.time + mark.duration}};
    select_in(&n, &(struct wndl_selection){.times = parts, .time_count = 3});
    const struct wndl_block *cut = n.profile.blocks.data;
    assert_int_equal(n.profile.blocks.len, 2);
    assert_int_equal(n.profile.unselected.kept_blocks, 1);
    assert_int_equal(cut[0].start, block.start + 100);
    assert_int_equal(cut[0].duration, 50);
    assert_int_equal(cut[1].duration, 1);
    assert_int_equal(n.profile.marks.len, 1);
    assert_int_equal(n.profile.block_ends[WNDL_WALK_COMPLETE], 2);
    assert_left(&n, 0, 2);
}

static void blocks_of_chosen_threads_are_kept(void **state)
{
    (void)state;
    static const char three[] = "meta 1000 1 1 h / app\n"
                                "process 0 7 /bin/app app\n"
                                "image /bin/app -\n"
                                "thread 0 7 app\n"
                                "thread 0 9 worker\n"
                                "block 0 1 10000 0 0 0:10 0:20\n"
                                "block 1 1 20000 0 0 0:10 0:20\n"
                                "block 0 1 30000 0 0 0:10\n"
                                "done 0 0\n";
    struct named n;
    named_cook(&n, three, names);
    assert_true(wndl_select(
        &n.profile, &n.symbolized, &(struct wndl_selection){.threads = "app"}));
    const struct wndl_block *blocks = n.profile.blocks.data;
    assert_int_equal(n.profile.blocks.len, 2);
    assert_int_equal(blocks[0].duration, 10000);
    assert_int_equal(blocks[1].duration, 30000);
    named_free(&n);
}

static void stacks_by_text_function_and_module(void **state)
{
    (void)state;
    struct named n;
    const char *one[] = {"main.h", NULL};
    const char *without[] = {"libx", "!main.h", NULL};
    const char *literal[] = {"\\!", NULL};
    select_in(&n, &(struct wndl_selection){.texts = one});
    const struct wndl_thread *thread = wndl_vec_at(&n.profile.threads, 1);
    assert_int_equal(thread->unsampled_cpu, 0);
    assert_left(&n, 3, 0);
    select_in(&n, &(struct wndl_selection){.texts = without});
    assert_left(&n, 4, 0);
    select_in(&n, &(struct wndl_selection){.texts = literal});
    assert_left(&n, 0, 0);
    select_in(&n, &(struct wndl_selection){.function = "g"});
    assert_left(&n, 3, 0);
    select_in(&n, &(struct wndl_selection){.module = "libx.so"});
    assert_left(&n, 5, 0);
    select_in(&n, &(struct wndl_selection){.module = "libx"});
    assert_left(&n, 0, 0);
    select_in(&n, &(struct wndl_selection){.ignored = "g"});
    assert_left(&n, 13, 1);
    select_in(&n, &(struct wndl_selection){.function = "main", .ignored = "h"});
    assert_left(&n, 8, 1);
}

/* ---- turning */

static void write_node(const struct named *n, const struct wndl_calltree *tree,
    uint32_t index, char *to)
{
    for (; index != 0; index = wndl_calltree_at(tree, index)->next_sibling) {
        const struct wndl_calltree_node *node = wndl_calltree_at(tree, index);
        const struct wndl_symbolized *s = &n->symbolized;
        uint32_t id = node->key;
        if (node->kind == WNDL_TREE_FRAME)
            id = ((const struct wndl_function *)wndl_vec_at(
                      &s->functions, node->key))
                     ->name;
        sprintf(to + strlen(to), "%s%s:%u/%u", node->inlined ? "~" : "",
            wndl_intern_text(&s->strings, id), (unsigned)node->self.samples,
            (unsigned)node->total.samples);
        if (node->first_child != 0) {
            strcat(to, "(");
            write_node(n, tree, node->first_child, to);
            strcat(to, ")");
        }
        strcat(to, node->next_sibling == 0 ? "" : " ");
    }
}

/* Each node has what its children have, and its own. */
static void assert_totals(const struct wndl_calltree *tree)
{
    for (uint32_t i = 0; i < tree->nodes.len; i++) {
        const struct wndl_calltree_node *node = wndl_calltree_at(tree, i);
        uint64_t total = node->self.samples;
        for (uint32_t c = node->first_child; c != 0;
             c = wndl_calltree_at(tree, c)->next_sibling)
            total += wndl_calltree_at(tree, c)->total.samples;
        assert_int_equal(node->total.samples, total);
    }
}

static void assert_tree(struct named *n, const char *expected)
{
    struct wndl_report report;
    char text[1000] = "";
    assert_true(wndl_report_fill(&report, &n->symbolized, WNDL_BY_FUNCTION,
        WNDL_TIME_CPU, wndl_mem_libc()));
    assert_true(
        report.quality.kept >= report.quality.complete + report.quality.lost);
    assert_true(wndl_calltree_build(
        &report.tree, &n->symbolized, WNDL_TREE_FOR_READING, WNDL_TIME_CPU));
    write_node(
        n, &report.tree, wndl_calltree_at(&report.tree, 0)->first_child, text);
    assert_string_equal(text, expected);
    assert_totals(&report.tree);
    wndl_report_free(&report);
    named_free(n);
}

static void assert_turned(
    enum wndl_turn turn, const char *function, const char *expected)
{
    struct named n;
    named_cook(&n, recipe, names);
    assert_true(wndl_turn_stacks(&n.profile, &n.symbolized, turn, function));
    assert_tree(&n, expected);
}

static void callees_begin_at_the_outermost_call(void **state)
{
    (void)state;
    assert_turned(WNDL_TURN_CALLEES, "f",
        "f:5/15(f:0/5(f:3/3 ~g:0/2(~h:2/2)) libx.so+0x40:4/4 "
        "~g:0/1(~h:0/1(libx.so+0x40:1/1)))");
    assert_turned(WNDL_TURN_CALLEES, "g", "~g:0/3(~h:2/3(libx.so+0x40:1/1))");
    assert_turned(WNDL_TURN_CALLEES, "nobody", "");
}

static void callers_begin_at_the_innermost_call(void **state)
{
    (void)state;
    assert_turned(WNDL_TURN_CALLERS, "f",
        "f:0/15(main:6/6 f:0/5(f:0/3(main:3/3) main:2/2) [lost]:4/4)");
    assert_turned(
        WNDL_TURN_CALLERS, "g", "~g:0/3(f:0/3(f:0/2(main:2/2) main:1/1))");
    assert_turned(WNDL_TURN_CALLERS, "libx.so+0x40",
        "libx.so+0x40:0/5(f:0/4([lost]:4/4) ~h:0/1(~g:0/1(f:0/1(main:1/1))))");
}

static void inverted_stacks_begin_at_their_leaves(void **state)
{
    (void)state;
    assert_turned(WNDL_TURN_INVERTED, NULL,
        "f:0/8(main:5/5 f:0/3(f:0/3(main:3/3))) "
        "libx.so+0x40:0/5(f:0/4([lost]:4/4) ~h:0/1(~g:0/1(f:0/1(main:1/1)))) "
        "~h:0/2(~g:0/2(f:0/2(f:0/2(main:2/2)))) [no stack]:1/1");
}

/* ---- collapsing */

static void collapsed_stacks_have_each_function_once(void **state)
{
    (void)state;
    struct named n;
    named_cook(&n, recipe, names);
    assert_true(wndl_collapse_recursion(&n.profile, &n.symbolized));
    assert_tree(&n, "main:0/11(f:8/11(~g:0/3(~h:2/3(libx.so+0x40:1/1)))) "
                    "[lost]:0/4(f:0/4(libx.so+0x40:4/4)) [no stack]:1/1");
    /* Also of functions that call each other; and the last line stays. */
    static const char both[] = "meta 1000 1 1 h / app\n"
                               "process 0 7 /bin/app app\n"
                               "image /bin/app -\n"
                               "thread 0 7 app\n"
                               "sample 0 5 0 0:11 0:21 0:11 0:21 0:31!\n"
                               "sample 0 2 0 0:11 0:21 0:12!\n"
                               "done 0 0\n";
    static const char of_both[] = "11 a a.c 1\n12 a a.c 2\n21 b a.c 3\n"
                                  "31 c a.c 4\n";
    named_cook(&n, both, of_both);
    assert_true(wndl_collapse_recursion(&n.profile, &n.symbolized));
    const struct wndl_sample *last =
        wndl_vec_at(&n.profile.samples, n.profile.samples.len - 1);
    const struct wndl_node *node = wndl_vec_at(&n.profile.nodes, last->node);
    const struct wndl_span *span =
        wndl_vec_at(&n.symbolized.spans, node->frame);
    assert_int_equal(wndl_symbolized_location(&n.symbolized, span, 0)->line, 2);
    assert_tree(&n, "a:2/7(b:0/5(c:5/5))");
}

/* ---- names */

static bool is_named(const char *full, const char *name)
{
    return wndl_function_is_named(
        (struct wndl_bytes){(const uint8_t *)full, strlen(full)}, name);
}

static void names_as_users_type_them(void **state)
{
    (void)state;
    static const char push[] =
        "std::vector<int, std::a<int> >::push_back(int&&)";
    assert_true(is_named("main", "main"));
    assert_false(is_named("main", "mai"));
    assert_false(is_named("main", "ain"));
    assert_false(is_named("main", ""));
    assert_true(is_named("f.isra.0", "f"));
    assert_true(is_named("malloc@plt", "malloc"));
    assert_true(is_named(push, push));
    assert_true(is_named(push, "push_back"));
    assert_true(is_named(push, "vector::push_back"));
    assert_true(is_named(push, "std::vector::push_back"));
    assert_true(is_named(push, "std::vector<int, std::a<int> >::push_back"));
    assert_false(is_named(push, "back"));
    assert_false(is_named(push, "vector"));
    assert_false(is_named("f(A::g)", "g"));
    assert_true(is_named("void sort<int>(int*)", "sort"));
    assert_true(is_named("a<b", "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_and_threads),
        cmocka_unit_test(times_are_half_open_and_cut_blocks),
        cmocka_unit_test(blocks_of_chosen_threads_are_kept),
        cmocka_unit_test(stacks_by_text_function_and_module),
        cmocka_unit_test(callees_begin_at_the_outermost_call),
        cmocka_unit_test(callers_begin_at_the_innermost_call),
        cmocka_unit_test(inverted_stacks_begin_at_their_leaves),
        cmocka_unit_test(collapsed_stacks_have_each_function_once),
        cmocka_unit_test(names_as_users_type_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
