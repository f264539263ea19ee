/* SPDX-License-Identifier: MIT */
/* What the logs of one process add up to: its own, and a watcher's. */
#include "testlib.h"

#include "model/event_summary.h"

#include <windlass/memlog_roles.h>

enum { MB = 1000 * 1000, OWN = 0, WATCHER = 1, OTHER = 2 };

static const uint32_t roles[] = {
    WNDL_MEMLOG_REPORT, WNDL_MEMLOG_MAPPED, WNDL_MEMLOG_CODE};

static void add_process(
    struct wndl_event_log *log, uint32_t process, uint32_t watcher)
{
    struct wndl_event_process *p = wndl_vec_push(&log->processes);
    p->process = process;
    p->watcher = watcher;
    p->start = 77;
    wndl_vec_init(&p->types, &log->arena, sizeof(struct wndl_event_type));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        ((struct wndl_event_type *)wndl_vec_push(&p->types))->role = roles[i];
}

static void make_log(struct wndl_event_log *log)
{
    wndl_event_log_init(log, wndl_mem_libc());
    add_process(log, 4711, 0);
    add_process(log, 4711, 5);
    add_process(log, 4712, 5);
}

/* `type` is the index in `roles`, `ms` a time. */
static void add(struct wndl_event_log *log, uint32_t process, uint32_t type,
    uint64_t ms, const int64_t numbers[2])
{
    struct wndl_event *e = wndl_vec_push(&log->events);
    e->process = process;
    e->type = type;
    e->real = (1000 + ms) * MB;
    e->numbers = type == 0 ? 1 : 2;
    e->number_at[0] = numbers[0];
    e->number_at[1] = numbers[1];
}

static void add_text(struct wndl_event_log *log, const char *text)
{
    struct wndl_event *e = wndl_vec_at(&log->events, log->events.len - 1);
    e->text = (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

#define NUMBERS(a, b) ((const int64_t[2]){a, b})

static void logs_of_a_process_are_one(void **state)
{
    (void)state;
    struct wndl_event_log log;
    struct wndl_event_summary s;
    make_log(&log);
    add(&log, OWN, 0, 0, NUMBERS(10 * MB, 0));
    add(&log, OTHER, 1, 1, NUMBERS(0x1000, 500 * MB));
    add(&log, WATCHER, 1, 2, NUMBERS(0x1000, 80 * MB));
    add(&log, WATCHER, 0, 3, NUMBERS(90 * MB, 0));
    for (uint32_t index = OWN; index <= WATCHER; index++) {
        wndl_event_summarize(&log, index, &s);
        assert_int_equal(s.reports, 2);
        assert_int_equal(s.low, 10 * MB);
        assert_int_equal(s.high, 90 * MB);
        assert_int_equal(s.cause, WNDL_MEMLOG_MAPPED);
        assert_int_equal(s.cause_bytes, 80 * MB);
        assert_int_equal(s.cause_count, 1);
    }
    wndl_event_summarize(&log, OTHER, &s);
    assert_int_equal(s.reports, 0);
    assert_int_equal(s.bytes[WNDL_MEMLOG_MAPPED], 500 * MB);
    wndl_event_log_free(&log);
}

static void steps_of_logged_calls_count_once(void **state)
{
    (void)state;
    struct wndl_event_log log;
    struct wndl_event_summary s;
    make_log(&log);
    add(&log, OWN, 0, 0, NUMBERS(10 * MB, 0));
    add(&log, OWN, 1, 1, NUMBERS(100 * MB, 40 * MB));
    add(&log, WATCHER, 1, 50, NUMBERS(100 * MB, 41 * MB));   /* that call */
    add(&log, WATCHER, 1, 51, NUMBERS(300 * MB, 20 * MB));   /* elsewhere */
    add(&log, WATCHER, 2, 52, NUMBERS(100 * MB, 40 * MB));   /* of code */
    add(&log, WATCHER, 1, 5060, NUMBERS(100 * MB, 40 * MB)); /* much later */
    add(&log, OWN, 1, 5061, NUMBERS(300 * MB, 5 * MB)); /* own calls count */
    add(&log, WATCHER, 1, 5062, NUMBERS(300 * MB, 11 * MB)); /* of a part */
    add(&log, OWN, 0, 5100, NUMBERS(200 * MB, 0));
    wndl_event_summarize(&log, OWN, &s);
    assert_int_equal(s.count[WNDL_MEMLOG_MAPPED], 5);
    assert_int_equal(s.bytes[WNDL_MEMLOG_MAPPED], (40 + 20 + 40 + 5 + 11) * MB);
    assert_int_equal(s.bytes[WNDL_MEMLOG_CODE], 40 * MB);
    assert_int_equal(s.cause_bytes, (40 + 20 + 40 + 5 + 11) * MB);
    wndl_event_log_free(&log);
}

static void a_step_of_several_calls_is_known(void **state)
{
    (void)state;
    struct wndl_event_log log;
    struct wndl_event_summary s;
    make_log(&log);
    for (int i = 0; i < 3; i++)
        add(&log, OWN, 1, (uint64_t)i, NUMBERS((100 + 8 * i) * MB, 8 * MB));
    add(&log, WATCHER, 1, 10, NUMBERS(100 * MB, 32 * MB));
    add(&log, OWN, 1, 11, NUMBERS(124 * MB, 8 * MB)); /* logged late */
    wndl_event_summarize(&log, WATCHER, &s);
    assert_int_equal(s.count[WNDL_MEMLOG_MAPPED], 4);
    assert_int_equal(s.bytes[WNDL_MEMLOG_MAPPED], 32 * MB);
    wndl_event_log_free(&log);
}

static void the_cause_is_between_least_and_most(void **state)
{
    (void)state;
    struct wndl_event_log log;
    struct wndl_event_summary s;
    make_log(&log);
    add(&log, OWN, 1, 0, NUMBERS(0, 900 * MB)); /* before the least */
    add(&log, OWN, 0, 1, NUMBERS(10 * MB, 0));
    add(&log, OWN, 2, 2, NUMBERS(0, 30 * MB));
    add(&log, OWN, 0, 3, NUMBERS(50 * MB, 0));
    add(&log, OWN, 1, 4, NUMBERS(0, 900 * MB)); /* after the most */
    wndl_event_summarize(&log, OWN, &s);
    assert_int_equal(s.cause, WNDL_MEMLOG_CODE);
    assert_int_equal(s.cause_bytes, 30 * MB);
    wndl_event_log_free(&log);
}

static void the_largest_growth_counts(void **state)
{
    (void)state;
    static const int64_t sizes[] = {20, 10, 90, 5, 60, 84, 3};
    struct wndl_event_log log;
    struct wndl_event_summary s;
    make_log(&log);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        add(&log, OWN, 0, i, NUMBERS(sizes[i] * MB, 0));
    wndl_event_summarize(&log, OWN, &s);
    assert_int_equal(s.low, 10 * MB);
    assert_int_equal(s.high, 90 * MB);
    assert_int_equal(s.low_at, 1001 * MB);
    assert_int_equal(s.high_at, 1002 * MB);
    wndl_event_log_free(&log);
    make_log(&log);
    add(&log, OWN, 0, 0, NUMBERS(20 * MB, 0));
    add(&log, OWN, 0, 1, NUMBERS(10 * MB, 0));
    wndl_event_summarize(&log, OWN, &s);
    assert_int_equal(s.reports, 2);
    assert_int_equal(s.high - s.low, 0);
    wndl_event_log_free(&log);
}

static void the_text_with_most_bytes_is_named(void **state)
{
    (void)state;
    struct wndl_event_log log;
    struct wndl_event_summary s;
    make_log(&log);
    add(&log, OWN, 1, 0, NUMBERS(0, 900 * MB));
    add_text(&log, "before");
    add(&log, OWN, 0, 1, NUMBERS(10 * MB, 0));
    for (int i = 0; i < 6; i++) {
        add(&log, OWN, 1, 2, NUMBERS(i * MB, 7 * MB));
        add_text(&log, i % 2 == 0 ? "libjit.so" : "other");
    }
    add(&log, OWN, 1, 3, NUMBERS(0, MB));
    add_text(&log, "libjit.so");
    add(&log, OWN, 2, 3, NUMBERS(0, 40 * MB));
    add_text(&log, "of code");
    add(&log, OWN, 0, 4, NUMBERS(99 * MB, 0));
    wndl_event_summarize(&log, OWN, &s);
    assert_int_equal(s.cause, WNDL_MEMLOG_MAPPED);
    assert_int_equal(s.source_count, 2);
    assert_true(wndl_bytes_is(s.most.text, "libjit.so"));
    assert_int_equal(s.most.bytes, 22 * MB);
    wndl_event_log_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_a_process_are_one),
        cmocka_unit_test(steps_of_logged_calls_count_once),
        cmocka_unit_test(a_step_of_several_calls_is_known),
        cmocka_unit_test(the_cause_is_between_least_and_most),
        cmocka_unit_test(the_largest_growth_counts),
        cmocka_unit_test(the_text_with_most_bytes_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
