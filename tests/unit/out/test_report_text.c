/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "named.h"
#include "out/report_text/report_text.h"

#include <stdio.h>

static const char recipe[] = "meta 1000000 1 1 box / app\n"
                             "process 0 1 /bin/app app\n"
                             "thread 0 1 app\n"
                             "image /bin/app -\n"
                             "sample 0 5 0 0:10 0:20 0:30!\n"
                             "sample 0 4 0 0:10 0:20 0:40!\n"
                             "sample 0 2 0 0:10 0:50!\n"
                             "done 0 0\n";

static const char names[] =
    "10 main a_rather_long_file_name_for_main.c 12\n"
    "20 outer::function(std::vector<int>&,std::map<int,std::string>&) o.cc 70\n"
    "30 na\x1b[31mve\xc3\xaf n.c 70\n"
    "40 in i.h 3 out i.c 4\n"
    "50 \xff\xfe b.c 1\n";

struct fixture {
    struct named named;
    struct wndl_report report;
    struct wndl_buf text;
};

static void write_text(struct fixture *f, const struct wndl_text_layout *layout)
{
    wndl_buf_init(&f->text, wndl_mem_libc());
    wndl_report_text(&f->report, layout, &f->text);
    wndl_buf_byte(&f->text, '\0');
    assert_false(f->text.failed);
}

static void make_from(struct fixture *f, const char *cooked, const char *named,
    const struct wndl_text_layout *layout, bool tree)
{
    named_cook(&f->named, cooked, named);
    assert_true(wndl_report_fill(&f->report, &f->named.symbolized,
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, wndl_mem_libc()));
    if (tree)
        assert_true(wndl_calltree_build(&f->report.tree, &f->named.symbolized,
            WNDL_TREE_FOR_READING, WNDL_TIME_CPU));
    write_text(f, layout);
}

static void make_of(struct fixture *f, const char *named,
    const struct wndl_text_layout *layout, bool tree)
{
    make_from(f, recipe, named, layout, tree);
}

static void make(
    struct fixture *f, const struct wndl_text_layout *layout, bool tree)
{
    make_of(f, names, layout, tree);
}

static void clear(struct fixture *f)
{
    wndl_buf_free(&f->text);
    wndl_report_free(&f->report);
    named_free(&f->named);
}

static const char *text_of(const struct fixture *f)
{
    return (const char *)f->text.data;
}

static void assert_has(const struct fixture *f, const char *part)
{
    if (strstr(text_of(f), part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text_of(f));
}

/* Columns of the widest line from the one with `heading` on. */
static size_t widest_line_from(const struct fixture *f, const char *heading)
{
    const char *line = strstr(text_of(f), heading);
    size_t widest = 0;
    assert_non_null(line);
    while (*line != '\0') {
        size_t size = strcspn(line, "\n");
        size_t columns =
            wndl_text_columns((struct wndl_bytes){(const uint8_t *)line, size});
        widest = columns > widest ? columns : widest;
        line += size + (line[size] == '\n');
    }
    return widest;
}

static size_t widest_line(const struct fixture *f)
{
    return widest_line_from(f, "(CPU)  ");
}

static const struct wndl_text_layout whole = {
    .max_rows = 30, .min_percent = 0.5};

static void numbers_are_grouped_by_three(void **state)
{
    (void)state;
    char text[WNDL_NUMBER_SIZE];
    assert_string_equal(wndl_text_number(0, text), "0");
    assert_string_equal(wndl_text_number(999, text), "999");
    assert_string_equal(wndl_text_number(1000, text), "1,000");
    assert_string_equal(
        wndl_text_number(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void times_have_a_fitting_unit(void **state)
{
    (void)state;
    char text[WNDL_NUMBER_SIZE];
    assert_string_equal(wndl_text_time(0, text), "0 ns");
    assert_string_equal(wndl_text_time(999, text), "999 ns");
    assert_string_equal(wndl_text_time(100000, text), "100 us");
    assert_string_equal(wndl_text_time(1000000, text), "1 ms");
    assert_string_equal(wndl_text_time(12345678, text), "12.35 ms");
    assert_string_equal(wndl_text_time(90500000000, text), "90.5 s");
    assert_string_equal(wndl_text_time(4000000000000, text), "4000 s");
}

static void cells_have_four_digits(void **state)
{
    (void)state;
    char text[WNDL_NUMBER_SIZE];
    assert_string_equal(wndl_text_time_cell(0, text), "0");
    assert_string_equal(wndl_text_time_cell(999, text), "999.0 ns");
    assert_string_equal(wndl_text_time_cell(62000000, text), "62.00 ms");
    assert_string_equal(wndl_text_time_cell(2000000000, text), "2.000 s");
    assert_string_equal(wndl_text_time_cell(4000000000000, text), "4000 s");
}

static void names_are_whole_when_it_is_no_terminal(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, &whole, false);
    assert_has(&f,
        "outer::function(std::vector<int>&,std::map<int,std::string>&)  o.cc:");
    assert_has(&f, "a_rather_long_file_name_for_main.c:10");
    clear(&f);
}

static const char long_names[] =
    "10 main m.cc 1\n"
    "20 "
    "std::vector<int,std::allocator<int>>::grow(Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    ",Bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,Ccccccccccccccccccccccccccc)const v.h "
    "7\n";

static void long_names_are_shortened_unless_asked_for(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct fixture f;
        struct wndl_text_layout layout = whole;
        layout.full_names = i < 2;
        make_of(&f, long_names, &layout, i % 2 != 0);
        assert_has(&f, layout.full_names
                           ? " std::vector<int,std::allocator<int>>::grow(Aaaa"
                           : " std::vector<int>::grow(...)const  ");
        clear(&f);
    }
}

static void table_fits_a_terminal_of_80_columns(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.width = 80;
    make(&f, &layout, false);
    assert_true(widest_line(&f) <= 80);
    assert_has(&f, "outer::");
    assert_has(&f, "...");
    clear(&f);
}

static void names_too_long_for_a_terminal_keep_their_end(void **state)
{
    (void)state;
    static const char named[] =
        "10 aaaaaaaaaaaaaaaa::bbbbbbbbbbbbbbbbbbbbbbb::cccc(int) m.cc 1\n"
        "20 aaaaaaaaaaaaaaaa::dddddddddddddddddddddddddddddddddddddd m.cc 2\n"
        "30 aaaaaaaaaaaaaaaaaaaaaaaaaaa::operator()<bbbb::cccc>(int) m.cc 3\n";
    for (unsigned tree = 0; tree < 2; tree++) {
        struct fixture f;
        struct wndl_text_layout layout = whole;
        layout.width = tree ? 60 : 80;
        make_of(&f, named, &layout, tree != 0);
        assert_has(&f, " ...::cccc(int) ");
        assert_has(&f, " dddddddddddddd");
        assert_has(&f, "operator()<");
        clear(&f);
    }
}

static void tree_fits_a_terminal_of_80_columns(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.width = 80;
    make(&f, &layout, true);
    assert_true(widest_line(&f) <= 80);
    clear(&f);
}

static void bytes_that_command_terminals_are_not_printed(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, &whole, false);
    assert_null(strchr(text_of(&f), 0x1b));
    assert_has(&f, "na?[31mve\xc3\xaf");
    assert_null(strstr(text_of(&f), "\xff"));
    assert_has(&f, "  ??  ");
    clear(&f);
}

/* Of the frames that are one, one is enough. */
static void guessed_frames_are_marked_in_the_tree(void **state)
{
    (void)state;
    struct fixture f;
    make_from(&f,
        "meta 1000000 1 1 box / app\nprocess 0 1 /bin/app app\n"
        "thread 0 1 app\nimage /bin/app -\n"
        "sample 0 5 0 0:10 0:60? 0:40!\nsample 0 2 7 0:10 0:20~ 0:40!\n"
        "sample 0 3 0 0:10 0:20 0:40!\ndone 0 0\n",
        "10 main m.c 1\n20 f m.c 2\n60 g m.c 3\n40 leaf m.c 4\n", &whole, true);
    assert_has(&f, "%  main  ");
    assert_has(&f, "- ~f  ");
    assert_has(&f, "- g  ");
    assert_null(strstr(text_of(&f), "~leaf"));
    assert_has(&f, "guessed: 2 (");
    clear(&f);
}

static void tree_moves_right_only_where_it_branches(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, &whole, true);
    assert_has(&f, "%  main  ");
    assert_has(&f, "%  |- outer::function(");
    assert_has(&f, "%  |  |- na?[31mve\xc3\xaf");
    assert_has(&f, "%  |  `- out  i.c");
    assert_has(&f, "%  |     in (inlined)  i.h");
    assert_has(&f, "%  `- ??");
    clear(&f);
}

static void tree_is_drawn_where_characters_allow(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.utf8 = true;
    make(&f, &layout, true);
    assert_has(&f, "%  \xe2\x94\x82  \xe2\x94\x9c\xe2\x94\x80 na");
    assert_has(&f, "%  \xe2\x94\x94\xe2\x94\x80 ??");
    assert_null(strstr(text_of(&f), "|-"));
    clear(&f);
}

static void small_shares_are_left_out_of_the_tree(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.min_percent = 20;
    make(&f, &layout, true);
    assert_null(strstr(text_of(&f), "??"));
    assert_has(&f, "Calls below 20% are not shown: --min-percent\n");
    clear(&f);
}

static void rows_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.max_rows = 2;
    make(&f, &layout, false);
    assert_has(&f, "\n4 more rows: -n 6\n");
    clear(&f);
}

/* ---- what version 1.1 of recordings tells */

static const char told[] =
    "limits 300 10000000\n"
    "meta 1000000 1 6 box / app\n"
    "process 0 1234567 /bin/app app\n"
    "thread 0 1234567 main_thread_15c\n"
    "thread 0 1234568 other_thread_15\n"
    "image /bin/app -\n"
    "sample 0 5 1 0:10 0:50!\n"
    "block 1 9 123456789 0 0 0:10\n"
    "block 1 2 12345678 1 0\n"
    "mark 1 5000000 1 a_deadline_that_was_missed_by_five_milliseconds_or_more\n"
    "mark 0 0 0 hello\n"
    "ended 1 1234567\n"
    "unfollowed 1 2345678 4 /usr/bin/go "
    "go run a_long_command_line_that_does_not_fit_in_eighty_columns ./...\n";

static void make_told(struct fixture *f, const char *more, enum wndl_view view,
    enum wndl_time time, const struct wndl_text_layout *layout)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", told, more);
    named_cook(&f->named, text, names);
    assert_true(wndl_report_fill(
        &f->report, &f->named.symbolized, view, time, wndl_mem_libc()));
    write_text(f, layout);
}

static void head_has_rows_for_the_time_before(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named, told, names);
    struct wndl_process *process = wndl_vec_at(&f.named.profile.processes, 0);
    process->loading_cpu = 20000000;
    process->starting_cpu = 300000;
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized,
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, wndl_mem_libc()));
    write_text(&f, &whole);
    assert_has(&f, " 21.53 ms more is in none of the samples\n");
    assert_has(&f, " 20 ms of it in exec and dynamic linking\n");
    assert_has(&f, " 300 us of it before recording began\n");
    clear(&f);
}

static void head_tells_of_gaps(void **state)
{
    (void)state;
    struct fixture f;
    make_told(&f, "pause 1\nwait 2000000\npause 0\ndone 0 3 44 1\n",
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, &whole);
    assert_has(&f, "perf task clock, the kernel at clock ticks\n");
    assert_has(&f, " truncated: 5 (deeper than 300 frames)\n");
    assert_has(&f, " discarded: 44 (made room for later ones)\n");
    assert_has(&f, " 1.235 ms more is in none of the samples\n");
    assert_has(&f, "Blocked    1.111 s in 9 blocks; stacks 100.0% complete\n");
    assert_has(&f, "Waiting    24.69 ms for a CPU\n");
    assert_has(&f, "Paused     1 time, for 2 ms in all\n");
    assert_has(&f,
        "Disturbed  1 blocked call returned EINTR because of the recorder\n");
    assert_has(&f, "Marks      2, 1 missed deadline: --marks\n");
    assert_has(&f, "Not seen   3 child processes could not be recorded:\n"
                   "    2345678  a Go program: go run a long");
    assert_has(&f, "             and 2 more\n");
    clear(&f);
}

static void ten_unfollowed_processes_are_listed(void **state)
{
    (void)state;
    struct fixture f;
    char more[1024] = "";
    for (int i = 0; i < 14; i++)
        strcat(more, "unfollowed 0 99 99 /bin/strange\n");
    make_told(&f, more, WNDL_BY_FUNCTION, WNDL_TIME_CPU, &whole);
    size_t listed = 0;
    for (const char *at = text_of(&f); at != NULL; listed++)
        at = strstr(at + 1, "reason not known: /bin/strange\n");
    assert_int_equal(listed - 1, 9);
    assert_has(&f, "             and 5 more\n");
    clear(&f);
}

static void head_and_threads_fit_a_terminal_of_80_columns(void **state)
{
    (void)state;
    for (unsigned time = 0; time < 3; time++) {
        struct fixture f;
        struct wndl_text_layout layout = whole;
        layout.width = 80;
        make_told(&f, "done 0 1\n", WNDL_BY_THREAD, time, &layout);
        assert_true(widest_line_from(&f, "Command") <= 80);
        assert_has(&f, " share      CPU  blocked  waiting    lived  thread");
        assert_has(&f, "1.235 ms  1.111 s 24.69 ms  1.150 s  other thread 15  "
                       " 1234567/1234568\n");
        clear(&f);
    }
}

static void columns_of_what_was_not_recorded_are_left_out(void **state)
{
    (void)state;
    struct fixture f;
    named_cook(&f.named, recipe, names);
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized, WNDL_BY_THREAD,
        WNDL_TIME_CPU, wndl_mem_libc()));
    write_text(&f, &whole);
    assert_has(&f, " share      CPU    lived  thread            pid/tid");
    assert_has(&f, "100.0% 11.00 ms 11.00 ms  app               1/1");
    assert_null(strstr(text_of(&f), "blocked"));
    clear(&f);
}

static void marks_are_flagged_and_fit(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.marks = true;
    layout.width = 80;
    make_told(&f, "", WNDL_BY_FUNCTION, WNDL_TIME_CPU, &layout);
    assert_true(widest_line_from(&f, "    time (s)") <= 80);
    assert_has(&f, "    1.149802  late 5.000 ms  other thread 15   a deadl");
    assert_has(&f, "    1.149802                 main thread 15c   hello\n");
    assert_null(strstr(text_of(&f), "self (CPU)"));
    clear(&f);
}

static void command_may_go_on_after_the_recording(void **state)
{
    (void)state;
    struct fixture f;
    make_told(&f, "done 512 0\n", WNDL_BY_FUNCTION, WNDL_TIME_CPU, &whole);
    assert_has(&f, " 1.15 s, exit status not known\n");
    clear(&f);
    make_told(&f, "done 265 0\n", WNDL_BY_FUNCTION, WNDL_TIME_CPU, &whole);
    assert_has(&f, " 1.15 s, killed by signal 9 (SIGKILL)\n");
    clear(&f);
}

static void time_without_samples_points_at_the_other(void **state)
{
    (void)state;
    struct fixture f;
    struct wndl_text_layout layout = whole;
    layout.next = "windlass report --time blocked x";
    named_cook(&f.named,
        "meta 1000 1 1 h / app\nprocess 0 1 /bin/app app\nthread 0 1 app\n"
        "block 0 1 5000000 0 2\ndone 0 0\n",
        names);
    assert_true(wndl_report_fill(&f.report, &f.named.symbolized,
        WNDL_BY_FUNCTION, WNDL_TIME_CPU, wndl_mem_libc()));
    write_text(&f, &layout);
    assert_has(&f, "Threads were blocked for 5 ms.\n\n"
                   "Next: windlass report --time blocked x\n");
    assert_has(&f, " lost: 1 (no stack)\n");
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_grouped_by_three),
        cmocka_unit_test(times_have_a_fitting_unit),
        cmocka_unit_test(cells_have_four_digits),
        cmocka_unit_test(head_tells_of_gaps),
        cmocka_unit_test(head_has_rows_for_the_time_before),
        cmocka_unit_test(ten_unfollowed_processes_are_listed),
        cmocka_unit_test(head_and_threads_fit_a_terminal_of_80_columns),
        cmocka_unit_test(columns_of_what_was_not_recorded_are_left_out),
        cmocka_unit_test(marks_are_flagged_and_fit),
        cmocka_unit_test(command_may_go_on_after_the_recording),
        cmocka_unit_test(time_without_samples_points_at_the_other),
        cmocka_unit_test(names_are_whole_when_it_is_no_terminal),
        cmocka_unit_test(long_names_are_shortened_unless_asked_for),
        cmocka_unit_test(table_fits_a_terminal_of_80_columns),
        cmocka_unit_test(names_too_long_for_a_terminal_keep_their_end),
        cmocka_unit_test(tree_fits_a_terminal_of_80_columns),
        cmocka_unit_test(bytes_that_command_terminals_are_not_printed),
        cmocka_unit_test(guessed_frames_are_marked_in_the_tree),
        cmocka_unit_test(tree_moves_right_only_where_it_branches),
        cmocka_unit_test(tree_is_drawn_where_characters_allow),
        cmocka_unit_test(small_shares_are_left_out_of_the_tree),
        cmocka_unit_test(rows_beyond_the_limit_are_counted),
    };
    return cmocka_run_group_tests_name("report_text", tests, NULL, NULL);
}
