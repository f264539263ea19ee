/* SPDX-License-Identifier: MIT */
/* Marks of blocks that memory reporters report. */
#include "heap_fixture.h"

#include "rt/core/rt.h"
#include "rt/heap/measure/marks.h"

struct wndl_rt wndl_rt;

enum { RUN = 7 };

static uint32_t report(uint32_t before, uint32_t node, bool is_lasting)
{
    const struct wndl_rt_report one = {
        .node = node, .end = 1, .is_lasting = is_lasting};
    return wndl_rt_report_set_after(before, &one);
}

static int forget(void **state)
{
    (void)state;
    wndl_rt_report_sets_forget();
    return 0;
}

static void same_reports_are_one_set(void **state)
{
    (void)state;
    const uint32_t once = report(0, 10, false);
    const uint32_t twice = report(once, 20, false);
    assert_int_not_equal(once, 0);
    assert_int_not_equal(twice, once);
    assert_int_equal(report(0, 10, false), once);
    assert_int_not_equal(report(0, 20, false), once);
    assert_int_equal(report(once, 20, false), twice);
    assert_int_equal(report(twice, 30, false), twice); /* two are kept */
    const struct wndl_rt_report_set *set = wndl_rt_report_set(twice);
    assert_int_equal(set->reports, 2);
    assert_int_equal(set->nodes[0], 10);
    assert_int_equal(set->nodes[1], 20);
    assert_int_equal(set->ends[0], 1);
}

static void marks_of_other_runs_are_void(void **state)
{
    (void)state;
    const uint32_t set = report(report(0, 10, false), 20, false);
    assert_int_equal(wndl_rt_mark_set(0, RUN), 0);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, set), RUN), set);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, set), RUN + 1), 0);
    const uint64_t most = wndl_rt_mark(
        (1u << WNDL_RT_MARK_RUN_BITS) - 1, WNDL_RT_REPORT_SETS - 1);
    assert_true(most < UINT64_C(1) << 47);
}

/* In whichever order they come. */
static void reports_at_allocations_outlast_runs(void **state)
{
    (void)state;
    const uint32_t kept = report(0, 10, true);
    const uint32_t both = report(kept, 20, false);
    const uint32_t late = report(report(0, 20, false), 10, true);
    const uint32_t two = report(kept, 11, true);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, kept), 0), kept);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, both), RUN), both);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, both), 0), kept);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, late), RUN), late);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, late), 0), kept);
    assert_int_equal(wndl_rt_mark_set(wndl_rt_mark(RUN, two), 0), two);
    assert_int_equal(wndl_rt_report_set(both)->nodes[0], 10);
    assert_int_equal(wndl_rt_report_set(late)->nodes[0], 20);
}

static void full_table_keeps_what_it_has(void **state)
{
    (void)state;
    uint32_t known[3];
    for (uint32_t i = 0; i < 3; i++)
        known[i] = report(0, i + 1, false);
    for (uint32_t node = 1; node < 2 * WNDL_RT_REPORT_SETS; node++)
        (void)report(0, node, false);
    assert_int_equal(report(0, 3 * WNDL_RT_REPORT_SETS, false), 0);
    assert_int_equal(
        report(known[0], 3 * WNDL_RT_REPORT_SETS, false), known[0]);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(report(0, i + 1, false), known[i]);
}

/* Threads that add the same sets see the same reports in them. */
static void *add_many(void *thread)
{
    uint64_t random = (uintptr_t)thread;
    for (int i = 0; i < 20000; i++) {
        const uint32_t node = (uint32_t)next_random(&random) % 2000 + 1;
        const uint32_t set = report(report(0, node, false), node + 1, false);
        const struct wndl_rt_report_set *s = wndl_rt_report_set(set);
        if (s->nodes[0] != node || s->nodes[1] != node + 1)
            return thread;
    }
    return NULL;
}

static void threads_may_add_at_once(void **state)
{
    (void)state;
    run_threads(add_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(same_reports_are_one_set, forget),
        cmocka_unit_test_teardown(marks_of_other_runs_are_void, forget),
        cmocka_unit_test_teardown(reports_at_allocations_outlast_runs, forget),
        cmocka_unit_test_teardown(full_table_keeps_what_it_has, forget),
        cmocka_unit_test_teardown(threads_may_add_at_once, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
