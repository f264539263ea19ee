/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "model/frame_key.h"
#include "named.h"

#include <stdio.h>

/* main calls f, which calls itself and has g inlined; h has no name. */
static const char recipe[] = "meta 1000 1 1 h / app\n"
                             "process 0 1 /bin/app app\n"
                             "thread 0 1 app\n"
                             "thread 0 2 worker\n"
                             "image /bin/app -\n"
                             "image /lib/libx.so -\n"
                             "image [vdso] -\n"
                             "sample 0 5 0 0:10 0:20!\n"
                             "sample 0 3 0 0:10 0:20 0:20 0:20!\n"
                             "sample 1 2 0 0:10 0:20 0:30!\n"
                             "sample 1 4 1 0:20 1:40!\n"
                             "sample 0 1 3 0:10\n"
                             "sample 0 1 0 0:10 2:50!\n"
                             "sample 0 1 2\n"
                             "exit 0 1 1 7 7 9\n"
                             "done 0 0\n";

static const char names[] = "10 main main.c 12\n"
                            "20 f main.c 25\n"
                            "30 g main.h 33 f main.c 27\n";

struct fixture {
    struct named named;
    struct wndl_report report;
};

static void fill(struct fixture *f, enum wndl_view view)
{
    named_cook(&f->named, recipe, names);
    assert_true(wndl_report_fill(&f->report, &f->named.symbolized, view,
        WNDL_TIME_CPU, wndl_mem_libc()));
}

static void clear(struct fixture *f)
{
    wndl_report_free(&f->report);
    named_free(&f->named);
}

static const char *function_name(const struct fixture *f, uint32_t index)
{
    const struct wndl_symbolized *s = &f->named.symbolized;
    const struct wndl_function *function = wndl_vec_at(&s->functions, index);
    return wndl_intern_text(&s->strings, function->name);
}

static void assert_function(const struct fixture *f, size_t row,
    const char *name, uint64_t self, uint64_t total)
{
    const struct wndl_row *r = wndl_vec_at(&f->report.rows, row);
    assert_string_equal(function_name(f, r->key), name);
    assert_int_equal(r->self.samples, self);
    assert_int_equal(r->total.samples, total);
    assert_int_equal(r->self.time, self * 1000);
    assert_int_equal(r->total.time, total * 1000);
}

static void assert_label(
    const struct fixture *f, size_t row, enum wndl_label label, uint64_t time)
{
    const struct wndl_row *r = wndl_vec_at(&f->report.rows, row);
    assert_int_equal(r->label, label);
    assert_int_equal(r->self.time, time);
    assert_int_equal(r->total.time, time);
}

static void total_counts_a_sample_once_under_recursion(void **state)
{
    (void)state;
    struct fixture f;
    fill(&f, WNDL_BY_FUNCTION);
    assert_int_equal(f.report.rows.len, 6);
    assert_function(&f, 0, "f", 8, 14);
    assert_function(&f, 1, "libx.so+0x40", 4, 4);
    assert_function(&f, 2, "g", 2, 2);
    assert_function(&f, 3, "main", 1, 12);
    assert_function(&f, 4, "[vdso]+0x50", 1, 1);
    clear(&f);
}

static void inlined_function_has_the_self_time_of_its_code(void **state)
{
    (void)state;
    struct fixture f;
    fill(&f, WNDL_BY_LINE);
    const struct wndl_symbolized *s = &f.named.symbolized;
    const struct wndl_row *rows = f.report.rows.data;
    uint64_t self_of_27 = 99, total_of_27 = 0, self_of_33 = 0;
    for (size_t i = 0; i < f.report.rows.len; i++) {
        if (rows[i].label != WNDL_LABEL_NONE)
            continue;
        const struct wndl_location *l = wndl_vec_at(&s->locations, rows[i].key);
        if (l->line == 27) {
            self_of_27 = rows[i].self.samples;
            total_of_27 = rows[i].total.samples;
        }
        if (l->line == 33)
            self_of_33 = rows[i].self.samples;
    }
    assert_int_equal(self_of_27, 0);
    assert_int_equal(total_of_27, 2);
    assert_int_equal(self_of_33, 2);
    clear(&f);
}

static void line_is_one_row_whether_inlined_or_not(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named,
        "meta 1 1 1 h / app\nprocess 0 1 /bin/app app\nthread 0 1 app\n"
        "image /bin/app -\n"
        "sample 0 1 0 0:10 0:20!\nsample 0 1 0 0:10 0:30!\n",
        "10 main m.c 1\n20 g m.h 5\n30 g m.h 5 main m.c 2\n");
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized, WNDL_BY_LINE,
        WNDL_TIME_CPU, wndl_mem_libc()));
    const struct wndl_row *first = wndl_vec_at(&f.report.rows, 0);
    assert_int_equal(first->self.samples, 2);
    assert_int_equal(f.report.rows.len, 3);
    clear(&f);
}

static void modules_and_threads_are_summed(void **state)
{
    (void)state;
    struct fixture f;
    fill(&f, WNDL_BY_MODULE);
    const struct wndl_row *rows = f.report.rows.data;
    assert_int_equal(f.report.rows.len, 4);
    assert_label(&f, 3, WNDL_LABEL_NO_STACK, 1000);
    assert_int_equal(rows[0].key, 0);
    assert_int_equal(rows[0].self.samples, 11);
    assert_int_equal(rows[0].total.samples, 16);
    assert_int_equal(rows[1].key, 1);
    assert_int_equal(rows[1].total.samples, 4);
    clear(&f);
    fill(&f, WNDL_BY_THREAD);
    rows = f.report.rows.data;
    assert_int_equal(f.report.rows.len, 2);
    assert_int_equal(rows[0].key, 0);
    assert_int_equal(rows[0].self.samples, 11);
    assert_int_equal(rows[1].total.samples, 6);
    clear(&f);
}

static void quality_adds_up(void **state)
{
    (void)state;
    struct fixture f;
    fill(&f, WNDL_BY_FUNCTION);
    const struct wndl_quality *q = &f.report.quality;
    assert_int_equal(q->kept, 17);
    assert_int_equal(q->complete, 11);
    assert_int_equal(q->truncated, 4);
    assert_int_equal(q->lost, 2);
    assert_int_equal(q->guessed, 0);
    assert_int_equal(q->dropped, 7);
    assert_int_equal(q->overruns, 9);
    assert_int_equal(
        q->kept, q->complete + q->guessed + q->truncated + q->lost);
    assert_int_equal(f.report.all.samples, 17);
    clear(&f);
}

static void vdso_is_not_blamed_for_having_no_symbols(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named, recipe, names);
    struct wndl_module *vdso = wndl_vec_at(&f.named.symbolized.modules, 2);
    vdso->state = WNDL_SYMBOLS_NOWHERE;
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized,
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, wndl_mem_libc()));
    assert_int_equal(f.report.unnamed.len, 1);
    const struct wndl_row *row = wndl_vec_at(&f.report.unnamed, 0);
    assert_int_equal(row->key, 1);
    assert_int_equal(row->self.samples, 4);
    clear(&f);
}

/* ---- other times than the CPU's */

/* main waits in f and g; the second thread waits for a CPU too. */
static const char blocked_recipe[] = "limits 9 1000\n"
                                     "meta 1000 1 4 h / app\n"
                                     "process 0 1 /bin/app app\n"
                                     "thread 0 1 app\n"
                                     "thread 0 2 worker\n"
                                     "thread 0 3 idle\n"
                                     "image /bin/app -\n"
                                     "mark 1 5 0 second\n"
                                     "sample 0 2 0 0:10 0:20!\n"
                                     "block 0 2 70000 0 0 0:10 0:20\n"
                                     "block 0 1 5000 0 1 0:10 0:30\n"
                                     "block 1 1 900 0 2\n"
                                     "block 1 3 400 1 0\n"
                                     "mark 0 0 1 third\n"
                                     "ended 1 50\n"
                                     "ended 2 60\n"
                                     "done 0 0\n";

static void fill_time(
    struct fixture *f, enum wndl_view view, enum wndl_time time)
{
    named_cook(&f->named, blocked_recipe, names);
    assert_true(wndl_report_fill(
        &f->report, &f->named.symbolized, view, time, wndl_mem_libc()));
}

static void assert_time(const struct fixture *f, size_t row, const char *name,
    uint64_t self, uint64_t total)
{
    const struct wndl_row *r = wndl_vec_at(&f->report.rows, row);
    assert_string_equal(function_name(f, r->key), name);
    assert_int_equal(r->self.time, self);
    assert_int_equal(r->total.time, total);
}

static void blocked_time_is_that_of_blocks_alone(void **state)
{
    (void)state;
    struct fixture f;
    fill_time(&f, WNDL_BY_FUNCTION, WNDL_TIME_BLOCKED);
    assert_int_equal(f.report.all.time, 145900);
    assert_int_equal(f.report.all.samples, 4);
    assert_time(&f, 0, "f", 140000, 145000);
    assert_time(&f, 1, "g", 5000, 5000);
    assert_label(&f, 2, WNDL_LABEL_NO_STACK, 900);
    assert_time(&f, 3, "main", 0, 145000);
    clear(&f);
}

static void wall_time_is_all_of_it(void **state)
{
    (void)state;
    struct fixture f;
    fill_time(&f, WNDL_BY_FUNCTION, WNDL_TIME_WALL);
    assert_int_equal(f.report.all.time, 2000 + 145900 + 1200);
    assert_time(&f, 0, "f", 142000, 147000);
    assert_label(&f, 2, WNDL_LABEL_WAITING, 1200);
    assert_label(&f, 3, WNDL_LABEL_NO_STACK, 900);
    clear(&f);
    fill_time(&f, WNDL_BY_FUNCTION, WNDL_TIME_CPU);
    assert_int_equal(f.report.all.time, 2000);
    assert_time(&f, 0, "f", 2000, 2000);
    clear(&f);
}

static void all_times_of_threads_are_known_in_each_view(void **state)
{
    (void)state;
    for (unsigned time = 0; time < 3; time++) {
        struct fixture f;
        fill_time(&f, WNDL_BY_LINE, time);
        const struct wndl_times *of = f.report.times_of_thread;
        assert_int_equal(of[0].sampled_cpu, 2000);
        assert_int_equal(of[0].blocked, 145000);
        assert_int_equal(of[1].blocked, 900);
        assert_int_equal(of[1].waiting, 1200);
        assert_int_equal(of[1].unsampled_cpu, 50);
        assert_int_equal(of[2].unsampled_cpu, 60);
        assert_int_equal(f.report.times.sampled_cpu, 2000);
        assert_int_equal(f.report.times.unsampled_cpu, 110);
        assert_int_equal(f.report.times.blocked, 145900);
        assert_int_equal(f.report.times.waiting, 1200);
        clear(&f);
    }
}

static void threads_without_a_sample_have_a_row(void **state)
{
    (void)state;
    struct fixture f;
    fill_time(&f, WNDL_BY_THREAD, WNDL_TIME_CPU);
    const struct wndl_row *rows = f.report.rows.data;
    assert_int_equal(f.report.rows.len, 3);
    assert_int_equal(rows[0].key, 0);
    /* Of the others, the one of which more is known comes first. */
    assert_int_equal(rows[1].key, 1);
    assert_int_equal(rows[2].key, 2);
    assert_int_equal(rows[2].self.samples, 0);
    clear(&f);
}

static void quality_of_blocks_adds_up(void **state)
{
    (void)state;
    struct fixture f;
    fill_time(&f, WNDL_BY_FUNCTION, WNDL_TIME_CPU);
    const struct wndl_quality *q = &f.report.blocked;
    assert_int_equal(q->kept, 4);
    assert_int_equal(q->complete, 2);
    assert_int_equal(q->truncated, 1);
    assert_int_equal(q->lost, 1);
    assert_int_equal(f.report.quality.kept, 2);
    assert_int_equal(f.report.quality.complete, 2);
    clear(&f);
}

static void marks_come_in_order_of_time(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named, blocked_recipe, names);
    struct wndl_mark *marks = f.named.profile.marks.data;
    marks[0].time = marks[1].time + 1;
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized,
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, wndl_mem_libc()));
    const uint32_t *order = f.report.marks.data;
    assert_int_equal(f.report.marks.len, 2);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
    clear(&f);
}

/* ---- the call tree */

/* "name(self/total" of all nodes in order, with a ")" for each way up. */
static void spell_tree(const struct fixture *f, char *text, size_t size)
{
    const struct wndl_calltree *tree = &f->report.tree;
    const struct wndl_symbolized *s = &f->named.symbolized;
    uint32_t i = wndl_calltree_at(tree, 0)->first_child;
    size_t used = 0;
    while (i != 0) {
        const struct wndl_calltree_node *n = wndl_calltree_at(tree, i);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s(%d/%d", " ",
            n->kind == WNDL_TREE_LABEL ? wndl_intern_text(&s->strings, n->key)
                                       : function_name(f, n->key),
            !n->inlined ? ""
            : n->called ? "~"
                        : "'",
            (int)n->self.samples, (int)n->total.samples);
        if (n->first_child != 0) {
            i = n->first_child;
            continue;
        }
        while (n->next_sibling == 0 && n->parent != 0) {
            used += (size_t)snprintf(text + used, size - used, ")");
            n = wndl_calltree_at(tree, n->parent);
        }
        used += (size_t)snprintf(text + used, size - used, ")");
        i = n->next_sibling;
    }
}

static void tree_merges_by_function_and_sorts_by_total(void **state)
{
    (void)state;
    struct fixture f;
    char text[1024];
    fill(&f, WNDL_BY_FUNCTION);
    assert_true(wndl_calltree_build(&f.report.tree, &f.named.symbolized,
        WNDL_TREE_FOR_READING, WNDL_TIME_CPU));
    assert_int_equal(wndl_calltree_at(&f.report.tree, 0)->total.samples, 17);
    spell_tree(&f, text, sizeof text);
    assert_string_equal(text,
        " main(0/11 f(5/10 f(0/5 f(3/3) g'(2/2))) [vdso]+0x50(1/1))"
        " [truncated](0/4 f(0/4 libx.so+0x40(4/4)))"
        " [lost](0/1 main(1/1))"
        " [no stack](1/1)");
    clear(&f);
}

static void tree_of_wall_time_has_a_branch_for_waiting(void **state)
{
    (void)state;
    struct fixture f;
    char text[1024];
    fill_time(&f, WNDL_BY_FUNCTION, WNDL_TIME_WALL);
    assert_true(wndl_calltree_build(&f.report.tree, &f.named.symbolized,
        WNDL_TREE_FOR_READING, WNDL_TIME_WALL));
    spell_tree(&f, text, sizeof text);
    assert_string_equal(text, " main(0/4 f(4/4))"
                              " [truncated](0/1 main(0/1 f(0/1 g'(1/1))))"
                              " [waiting for a CPU](3/3)"
                              " [no stack](1/1)");
    clear(&f);
}

static void function_both_called_and_inlined_is_one_node(void **state)
{
    (void)state;
    struct fixture f;
    char text[1024];
    named_cook(&f.named,
        "meta 1 1 1 h / app\nprocess 0 1 /bin/app app\nthread 0 1 app\n"
        "image /bin/app -\n"
        "sample 0 1 0 0:10 0:20!\nsample 0 1 0 0:30!\n",
        "10 main m.c 1\n20 g m.h 5\n30 g m.h 7 main m.c 2\n");
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized,
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, wndl_mem_libc()));
    assert_true(wndl_calltree_build(&f.report.tree, &f.named.symbolized,
        WNDL_TREE_FOR_READING, WNDL_TIME_CPU));
    spell_tree(&f, text, sizeof text);
    assert_string_equal(text, " main(0/2 g~(2/2))");
    clear(&f);
}

static void empty_profile_gives_an_empty_report(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named, "meta 1 1 1 h / app\n", "");
    for (unsigned view = 0; view < 4; view++) {
        assert_true(wndl_report_fill(&f.report, &f.named.symbolized, view,
            WNDL_TIME_CPU, wndl_mem_libc()));
        assert_true(wndl_calltree_build(&f.report.tree, &f.named.symbolized,
            WNDL_TREE_FOR_READING, WNDL_TIME_CPU));
        assert_int_equal(f.report.rows.len, 0);
        assert_int_equal(f.report.quality.kept, 0);
        assert_int_equal(f.report.tree.nodes.len, 1);
        wndl_report_free(&f.report);
    }
    named_free(&f.named);
}

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named, blocked_recipe, names);
    for (unsigned view = 0; view < 4; view++) {
        bool made = false;
        for (long budget = 0; !made; budget++) {
            struct failing_mem heap;
            failing_mem_init(&heap, budget);
            made = wndl_report_fill(&f.report, &f.named.symbolized, view,
                WNDL_TIME_WALL, &heap.mem);
            wndl_report_free(&f.report);
            assert_int_equal(heap.live, 0);
        }
    }
    named_free(&f.named);
}

static void rows_by_file(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t self, total;
    } expected[] = {{"main.c", 9, 16}, {"", 5, 5}, {"main.h", 2, 2}};
    struct fixture f;
    fill(&f, WNDL_BY_FILE);
    assert_int_equal(f.report.rows.len, 4);
    for (size_t i = 0; i < 3; i++) {
        const struct wndl_row *row = wndl_vec_at(&f.report.rows, i);
        assert_string_equal(
            wndl_intern_text(&f.named.symbolized.strings, row->key),
            expected[i].file);
        assert_int_equal(row->self.samples, expected[i].self);
        assert_int_equal(row->total.samples, expected[i].total);
    }
    assert_label(&f, 3, WNDL_LABEL_NO_STACK, 1000);
    clear(&f);
}

/* A return address stands for the call before it. */
static void rows_by_address(void **state)
{
    (void)state;
    static const struct {
        uint64_t address, self, total;
    } expected[] = {{0x20, 8, 8}, {0x40, 4, 4}, {0x30, 2, 2}, {0xf, 1, 12}};
    struct fixture f;
    fill(&f, WNDL_BY_ADDRESS);
    assert_int_equal(f.report.rows.len, 7);
    for (size_t i = 0; i < 4; i++) {
        const struct wndl_row *row = wndl_vec_at(&f.report.rows, i);
        assert_int_equal(
            wndl_frame_key_byte(wndl_vec_at(&f.named.profile.frames, row->key)),
            expected[i].address);
        assert_int_equal(row->self.samples, expected[i].self);
        assert_int_equal(row->total.samples, expected[i].total);
    }
    const struct wndl_row *last = wndl_vec_at(&f.report.rows, 6);
    assert_int_equal(last->self.samples, 0);
    assert_int_equal(last->total.samples, 9);
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(total_counts_a_sample_once_under_recursion),
        cmocka_unit_test(inlined_function_has_the_self_time_of_its_code),
        cmocka_unit_test(line_is_one_row_whether_inlined_or_not),
        cmocka_unit_test(modules_and_threads_are_summed),
        cmocka_unit_test(quality_adds_up),
        cmocka_unit_test(vdso_is_not_blamed_for_having_no_symbols),
        cmocka_unit_test(blocked_time_is_that_of_blocks_alone),
        cmocka_unit_test(wall_time_is_all_of_it),
        cmocka_unit_test(all_times_of_threads_are_known_in_each_view),
        cmocka_unit_test(threads_without_a_sample_have_a_row),
        cmocka_unit_test(quality_of_blocks_adds_up),
        cmocka_unit_test(marks_come_in_order_of_time),
        cmocka_unit_test(tree_of_wall_time_has_a_branch_for_waiting),
        cmocka_unit_test(tree_merges_by_function_and_sorts_by_total),
        cmocka_unit_test(function_both_called_and_inlined_is_one_node),
        cmocka_unit_test(empty_profile_gives_an_empty_report),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
        cmocka_unit_test(rows_by_file),
        cmocka_unit_test(rows_by_address),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
